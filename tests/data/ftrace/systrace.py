#!/usr/bin/env python3
"""systrace.py IN OUT: text of ftrace in a page as Android's systrace makes them: parts of text in script elements.

Made for tests, without an Android device: the text is real, the page around it is ours. The viewer's own code is left out.
"""
import gzip
import pathlib
import sys

PAGE = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8"/>
<title>Android System Trace</title>
<script>
"use strict"; // the viewer would be here
</script>
</head>
<body>
<script class="trace-data" type="application/text">
PROCESS DUMP
USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME                        CMD
root             1     0   10632   9604 0                   0 S init                        init
</script>
<!-- BEGIN TRACE -->
  <script class="trace-data" type="application/text">
{}  </script>
<!-- END TRACE -->
</body>
</html>
"""


def main():
    """Command line."""
    data = pathlib.Path(sys.argv[1]).read_bytes()
    text = (gzip.decompress(data) if sys.argv[1].endswith(".gz") else data).decode()
    pathlib.Path(sys.argv[2]).write_text(PAGE.format(text))


if __name__ == "__main__":
    main()
