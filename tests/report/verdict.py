"""The sentences of a report's verdict, out of its HTML, by no code of ours but Python's parser."""
import html.parser
import pathlib


class _Verdict(html.parser.HTMLParser):
    """Text of p.sentence of each item of the list in section#verdict; links lead to evidence, and are no part of a sentence."""

    def __init__(self):
        super().__init__()
        self.sentences, self.is_within, self.is_item, self.links = [], False, False, 0

    def handle_starttag(self, tag, attrs):
        if tag == "section":
            self.is_within = dict(attrs).get("id") == "verdict"
        elif self.is_within and tag == "p" and dict(attrs).get("class") == "sentence":
            self.is_item = True
            self.sentences.append("")
        self.links += tag == "a"

    def handle_endtag(self, tag):
        if tag == "section":
            self.is_within = False
        self.is_item &= tag != "p"
        self.links -= tag == "a"

    def handle_data(self, data):
        if self.is_within and self.is_item and not self.links:
            self.sentences[-1] += data


def sentences(page):
    """Of the file, first to last."""
    parser = _Verdict()
    parser.feed(pathlib.Path(page).read_text(encoding="utf-8"))
    return [" ".join(sentence.split()) for sentence in parser.sentences]
