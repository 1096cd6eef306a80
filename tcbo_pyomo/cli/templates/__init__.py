"""The files that `tcbo new` copies; `my_reactor` stands for the name the user chooses."""
