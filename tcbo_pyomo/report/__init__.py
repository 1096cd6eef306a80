"""What a finished campaign leaves behind: figures and the files of a run folder."""
