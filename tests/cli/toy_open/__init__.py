"""A catalog of cheap papers, to try the front door on."""
