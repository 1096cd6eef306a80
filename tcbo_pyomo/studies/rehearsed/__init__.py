"""`tcbo rehearse`: a campaign simulated before its first experiment, on functions drawn from what is believed."""
