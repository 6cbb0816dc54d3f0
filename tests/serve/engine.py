"""Programs that scrape `serve`, or pass on what it writes, and the expressions of the dashboard that ships."""
import json
import pathlib
import shutil
import subprocess
import time
import urllib.parse
import urllib.request

from serve import SOURCE, WAIT_S, Skip, expect, folder, free_port, wait_for

PROMETHEUS = ["--config.file={dir}/config.yml", "--storage.tsdb.path={dir}/data", "--web.listen-address=127.0.0.1:{port}"]


class Engine:
    """A program that scrapes, or is scraped."""

    def __init__(self, program, words, ready, config=None):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
        self.port = free_port()
        self.folder = folder()
        if config:
            (pathlib.Path(self.folder.name) / "config.yml").write_text(config)
        words = [word.format(dir=self.folder.name, port=self.port) for word in words]
        self.log = open(pathlib.Path(self.folder.name) / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([program, *words], stdout=self.log, stderr=self.log)
        self.ready = ready
        self.started = time.monotonic()

    def age_s(self):
        return time.monotonic() - self.started

    def wait(self):
        try:
            wait_for(self.ready, self.is_ready)
        except AssertionError as why:
            self.log.seek(0)
            raise AssertionError(f"{why}: {self.log.read()[-2000:]}") from why

    def is_ready(self):
        try:
            return self.get(self.ready)
        except OSError:
            return None

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=WAIT_S) as answer:
            return answer.read().decode()

    def query(self, text):
        """[(labels, value)] at this moment."""
        answer = json.loads(self.get("/api/v1/query?" + urllib.parse.urlencode({"query": text})))
        expect(answer["status"] == "success", f"{text}: {answer}")
        return [(row["metric"], float(row["value"][1])) for row in answer["data"]["result"] if "value" in row]

    def stop(self):
        self.process.terminate()
        self.process.wait(WAIT_S)
        self.log.close()
        self.folder.cleanup()


def scrape_config(daemons, every_s):
    targets = ", ".join(f"'127.0.0.1:{daemon.port}'" for daemon in daemons)
    return (f"global: {{scrape_interval: {every_s}s, scrape_timeout: {every_s}s}}\nscrape_configs:\n- job_name: schedscope\n"
            f"  static_configs:\n  - targets: [{targets}]\n")


def dashboard():
    return json.loads((SOURCE / "share/schedscope/grafana/schedscope-fleet.json").read_text())


def expressions():
    """(title of the panel, expression for all machines), as Grafana would ask it."""
    for panel in dashboard()["panels"]:
        expect(panel["title"] and panel["targets"], f"{panel}")
        for target in panel["targets"]:
            text = target["expr"].replace("[$__rate_interval]", "[1m]").replace("$instance", ".*")
            expect("$" not in text, text)
            yield panel["title"], text
