"""The systems beside the classifier, each in a folder that can be deleted with its line in the registry."""
