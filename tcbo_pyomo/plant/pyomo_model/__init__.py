"""A plant that is a Pyomo model of the user: what is a state, what is an input, and one step of it as dynamics."""
