"""Before a campaign: is the problem sound? After it: did the plant keep its limits?"""
