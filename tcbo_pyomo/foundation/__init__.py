"""What everything else stands on: arrays, axes, names, files, words. Nothing of the method."""
