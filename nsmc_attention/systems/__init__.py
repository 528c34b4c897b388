"""The systems beside the classifier, each in a folder that can be deleted, see `registry`."""
