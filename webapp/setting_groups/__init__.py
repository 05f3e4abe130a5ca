"""The settings of one subject each; webapp/config.py makes them one object."""
