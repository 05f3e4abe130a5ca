"""The content of a form, the input of agents, and the differences between two versions."""
