"""A plant, its rules, what is believed about the black box before the first measurement, and a budget."""
