"""How answers are compared with recorded ones: by form where a value is the server's own choice."""
import base64
import json
import re

UUID = r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
TIME = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z'
IP = r'\d+\.\d+\.\d+\.\d+'
# The placeholders of the recordings, and the server's own values where a recording kept them.
FORMS = [
    (re.compile(r'<uid>'), UUID),
    (re.compile(r'<rv>'), r'\d+'),
    (re.compile(r'<(?:time|microTime)>'), TIME),
    (re.compile(r'<clusterIP>'), IP),
    (re.compile(r'<nodePort>'), r'\d+'),
    (re.compile(r'<rand5>'), r'[a-z0-9]{5}'),
    (re.compile(r'<jwt>'), r'[\w-]+\.[\w-]+\.[\w-]+'),
    (re.compile(UUID), UUID),
    (re.compile(TIME), TIME),
    (re.compile(r'(?<=kube-api-access-)[a-z0-9]{5}'), r'[a-z0-9]{5}'),
    (re.compile(r'(?<=current: )\d+'), r'\d+'),
    (re.compile(r'(?<=ResourceVersion in record \()\d+'), r'\d+'),
    (re.compile(r'(?<=too old resource version: \d \()\d+'), r'\d+'),
    (re.compile(r'(?<="resourceVersion":")\d+'), r'\d+'),
    (re.compile(r'(?<=resourceVersion: ")\d+'), r'\d+'),
    (re.compile(r'(?<=\\"resourceVersion\\":\\")\d+'), r'\d+'),
]
MANAGED = re.compile(r'<managedFields:(\d+)>')


def pattern_of(text):
    """A regular expression for a recorded text; None when only the same text will do."""
    cuts = []
    for form, accepted in FORMS:
        cuts += [(m.start(), m.end(), accepted) for m in form.finditer(text)]
    if not cuts:
        return None
    pieces, at = [], 0
    for start, end, accepted in sorted(cuts):
        if start < at:
            continue
        pieces += [re.escape(text[at:start]), accepted]
        at = end
    return re.compile(''.join(pieces) + re.escape(text[at:]), re.DOTALL)


def shorten(value):
    text = json.dumps(value)
    return text if len(text) <= 400 else text[:400] + '...'


def match_text(want, got, where):
    if want == got:
        return None
    if isinstance(got, (int, float)) and want in ('<nodePort>', '<rv>'):
        return None
    if isinstance(got, list) and (counted := MANAGED.fullmatch(want)):
        if len(got) == int(counted[1]):
            return None
        return f'{where}: want {want}, got {len(got)} entries'
    if isinstance(got, str) and (pattern := pattern_of(want)) and pattern.fullmatch(got):
        return None
    return f'{where}: want {shorten(want)}\n{"":>{len(where)}}   got {shorten(got)}'


def match(want, got, where=''):
    """The first difference between a recorded value and an answered one, or None."""
    if isinstance(want, str):
        return match_text(want, got, where)
    if isinstance(want, dict) and isinstance(got, dict):
        return match_dict(want, got, where)
    if isinstance(want, list) and isinstance(got, list):
        if where.endswith('.managedFields'):  # entries of one second have no order
            want, got = sorted(want, key=manager_of), sorted(got, key=manager_of)
        if len(want) != len(got):
            return (f'{where}: want {len(want)} items {shorten(want)}\n'
                    f' got {len(got)} {shorten(got)}')
        for i, (left, right) in enumerate(zip(want, got)):
            if difference := match(left, right, f'{where}[{i}]'):
                return difference
        return None
    if want == got and isinstance(want, bool) == isinstance(got, bool):
        return None
    return f'{where}: want {shorten(want)}, got {shorten(got)}'


def manager_of(entry):
    return [str(entry.get(k)) for k in ('manager', 'operation', 'subresource')]


def decode_token(text):
    """The contents of a continue token, or None."""
    try:
        token = json.loads(base64.urlsafe_b64decode(text + '==='))
        return token if isinstance(token, dict) and 'rv' in token else None
    except (ValueError, TypeError):
        return None


def match_dict(want, got, where):
    if '$omitted' in want:
        keys = want.get('topKeys', [k for k in want if k != '$omitted'])
        missing = [k for k in keys if k not in got]
        return f'{where}: missing {missing}' if missing else None
    omitted = want.get('itemsOmitted')
    if omitted is not None:
        want = {k: v for k, v in want.items() if k != 'itemsOmitted'}
        items = got.get('items') or []
        if len(items) != len(want['items']) + omitted:
            return f'{where}.items: want {len(want["items"]) + omitted}, got {len(items)}'
        got = dict(got, items=items[:len(want['items'])])
    for key in list(want) + [k for k in got if k not in want]:
        if key not in got:
            return f'{where}.{key}: missing, want {shorten(want[key])}'
        if key not in want:
            return f'{where}.{key}: not wanted, got {shorten(got[key])}'
        left, right = want[key], got[key]
        if key == 'continue':  # tokens name revisions of their own store
            left, right = (decode_token(t) or t for t in (left, right))
            if isinstance(left, dict) and isinstance(right, dict) and left['rv'] > 0:
                left['rv'] = right['rv']
        if difference := match(left, right, f'{where}.{key}'):
            return difference
    return None


def match_body(want, got):
    """Like match, but causes that upstream finds in the order of a hash map may come in any."""
    difference = match(want, got)
    causes = [((b.get('details') or {}).get('causes') if isinstance(b, dict) else None)
              for b in (want, got)]
    if not difference or not all(causes) or want.get('code') != got.get('code'):
        return difference

    def ordered(body, found):
        words = sorted(re.split(r', |: \[|\]$', body.get('message', '')))
        found = sorted(found, key=lambda cause: json.dumps(cause, sort_keys=True))
        return dict(body, message=words, details=dict(body['details'], causes=found))
    return None if not match(ordered(want, causes[0]), ordered(got, causes[1])) else difference
