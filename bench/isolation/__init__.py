"""One run in a process of its own: started, warmed up, limited, watched, ended, and its answer judged."""
