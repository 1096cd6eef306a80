"""Rivals of the paper's method, one per file, under the same move constraints, the same model and the same budget.

A rival is a class `Name(problem, settings)` in the file name.py with the method
`next_decision(situation, knowledge, generator)`. Its constructor refuses a problem it makes no sense on. Where it
believes something else about the plant than is true, it says so in the class method `believed(problem)`.
"""
