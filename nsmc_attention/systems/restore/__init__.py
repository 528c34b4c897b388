"""`restore`: corrects spacing and spelling, by an editor or a writer."""
