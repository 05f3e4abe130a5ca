"""Types and serializers of the objects that agents read."""
