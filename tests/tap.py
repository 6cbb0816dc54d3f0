"""What scripts share that run cases one after the other and print TAP."""
import traceback


class Skipped(Exception):
    """Why a case cannot be run here."""


def run_cases(cases):
    """Runs functions, whose names are sentences; 1 if one of them failed."""
    failed = 0
    print(f"1..{len(cases)}")
    for number, function in enumerate(cases, 1):
        result, note = "ok", ""
        try:
            function()
        except Skipped as why:
            note = f" # SKIP {why}"
        except Exception:  # whatever goes wrong is this case's failure
            result = "not ok"
            failed += 1
            note = "".join("\n# " + line for line in traceback.format_exc().splitlines())
        print(f"{result} {number} - {function.__name__}{note}", flush=True)
    return int(failed != 0)
