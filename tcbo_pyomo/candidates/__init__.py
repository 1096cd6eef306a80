"""The set Z of potential maximisers. One rule per file; the file name is the name in settings."""
