"""What everything else uses: arrays, axes, names, files, words. Nothing of the method."""
