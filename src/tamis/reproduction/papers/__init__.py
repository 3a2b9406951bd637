"""The experiments of the papers, one module each."""
