"""What every layer may use: pieces of tables, statistics of columns, files, messages, threads."""
