"""`film`: predicts a film's mean rating from its reviews."""
