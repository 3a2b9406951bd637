"""What pytest leaves alone here: the site's machinery, and what a build leaves behind."""

collect_ignore = ["conf.py", "_build", "_extensions", "api", "gallery"]
