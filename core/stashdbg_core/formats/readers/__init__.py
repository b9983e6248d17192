"""One reader each for the files of another tool: a module, or a folder where it takes several."""
