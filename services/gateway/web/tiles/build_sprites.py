# /// script
# requires-python = ">=3.11"
# dependencies = ["fonttools"]
# ///
# The pen overrides fontTools methods by their names (N802); a script outside the packages that reports what it wrote.
# ruff: noqa: N802, T201
"""Draws the tile sprites `classic.svg`, `numerals.svg` and `contrast.svg` beside this script.

Each sprite holds one `<symbol>` of 300 x 424 units per kind, named by its notation (`1m` ... `4g`), and the bodies
without a face: `body` and `back` upright, `body-side` and `back-side` lying (424 x 300 units, light still from above).
Colours are CSS variables (`--tile-...`), so that a theme is data. Glyphs are outlines of Noto Serif CJK and Noto Sans
CJK (SIL Open Font License, `OFL.txt`); everything else is drawn here.

Run it again after a change, with the fonts of Debian's `fonts-noto-cjk`:

    python -m pip install fonttools
    python services/gateway/web/tiles/build_sprites.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fontTools.pens.basePen import BasePen
from fontTools.pens.boundsPen import BoundsPen
from fontTools.ttLib import TTCollection, TTFont

HERE = Path(__file__).parent
FONTS = Path("/usr/share/fonts/opentype/noto")
SERIF, SANS = "NotoSerifCJK-Bold.ttc", "NotoSansCJK-Bold.ttc"

WIDTH, HEIGHT, RADIUS = 300, 424, 36
FACE_BOTTOM, EDGE_BOTTOM = 398, 412
MIDDLE_X, MIDDLE_Y = WIDTH / 2, FACE_BOTTOM / 2

INK, RED, GREEN, BLUE = "ink", "red", "green", "blue"
SUITS = ("m", "p", "s")
SUIT_LETTERS = {"m": "C", "p": "D", "s": "B"}
SUIT_COLOURS = {"m": RED, "p": BLUE, "s": GREEN}
CHARACTERS = "一二三四五六七八九"
WINDS = (("1z", "東", "E"), ("2z", "南", "S"), ("3z", "西", "W"), ("4z", "北", "N"))
DRAGONS = (("5z", "中", "Red", RED), ("6z", "發", "Green", GREEN))
FLOWERS = (("1f", "梅", "Plum"), ("2f", "蘭", "Orchid"), ("3f", "菊", "Mum"), ("4f", "竹", "Bamboo"))
SEASONS = (("1g", "春", "Spring"), ("2g", "夏", "Summer"), ("3g", "秋", "Autumn"), ("4g", "冬", "Winter"))


def number(value: float) -> str:
    """The shortest text of a coordinate, at most one decimal."""
    text = f"{value:.1f}".rstrip("0").rstrip(".")
    if text.startswith(("0.", "-0.")):
        text = text.replace("0.", ".", 1)
    return "0" if text in ("-0", "") else text


def numbers(*values: float) -> str:
    """Coordinates joined with as few separators as SVG allows."""
    text = ""
    for value in values:
        piece = number(value)
        text += piece if not text or piece.startswith("-") else " " + piece
    return text


class RelativePathPen(BasePen):
    """Collects an outline as relative SVG path commands, flipped and scaled by `scale`."""

    def __init__(self, glyphs: object, scale: float) -> None:
        super().__init__(glyphs)
        self.scale = scale
        self.commands: list[str] = []
        self.at = (0, 0)

    def _point(self, point: tuple[float, float]) -> tuple[int, int]:
        return round(point[0] * self.scale), round(-point[1] * self.scale)

    def _moveTo(self, pt: tuple[float, float]) -> None:
        x, y = self._point(pt)
        self.commands.append("M" + numbers(x, y))
        self.at = (x, y)

    def _lineTo(self, pt: tuple[float, float]) -> None:
        x, y = self._point(pt)
        dx, dy = x - self.at[0], y - self.at[1]
        if dy == 0:
            self.commands.append("h" + numbers(dx))
        elif dx == 0:
            self.commands.append("v" + numbers(dy))
        else:
            self.commands.append("l" + numbers(dx, dy))
        self.at = (x, y)

    def _curveToOne(self, pt1: tuple[float, float], pt2: tuple[float, float], pt3: tuple[float, float]) -> None:
        points = [self._point(point) for point in (pt1, pt2, pt3)]
        flat = [part for x, y in points for part in (x - self.at[0], y - self.at[1])]
        self.commands.append("c" + numbers(*flat))
        self.at = points[2]

    def _closePath(self) -> None:
        self.commands.append("z")

    def _endPath(self) -> None:
        self.commands.append("z")


@cache
def font(file: str) -> TTFont:
    """The Traditional Chinese face of a Noto CJK collection."""
    for face in TTCollection(str(FONTS / file)).fonts:
        if face["name"].getDebugName(1).split(" ")[:4][-1] == "TC":
            return face
    raise LookupError(f"{file} has no TC face")


@dataclass(frozen=True, slots=True)
class Outline:
    """A glyph in units of 1/400 em, with its bounding box, baseline at 0 and y downwards."""

    path: str
    left: float
    top: float
    right: float
    bottom: float
    advance: float


@cache
def outline(character: str, file: str) -> Outline:
    face = font(file)
    glyphs = face.getGlyphSet()
    name = face.getBestCmap()[ord(character)]
    scale = 400 / face["head"].unitsPerEm
    pen, bounds = RelativePathPen(glyphs, scale), BoundsPen(glyphs)
    glyphs[name].draw(pen)
    glyphs[name].draw(bounds)
    left, low, right, high = bounds.bounds
    return Outline(
        "".join(pen.commands), left * scale, -high * scale, right * scale, -low * scale, glyphs[name].width * scale
    )


def colour(name: str) -> str:
    return f'fill="var(--tile-{name})"'


class Sprite:
    """One SVG under construction: shared shapes are defined once and used by the symbols."""

    def __init__(self) -> None:
        self.shapes: dict[str, str] = {}
        self.symbols: list[str] = []

    def shape(self, name: str, content: str) -> str:
        self.shapes.setdefault(name, content)
        return name

    def use(self, name: str, x: float, y: float, *, scale: float = 1, turn: float = 0, paint: str = "") -> str:
        transform = f"translate({numbers(x, y)})"
        if turn:
            transform += f"rotate({number(turn)})"
        if scale != 1:
            transform += f"scale({f'{scale:.3f}'.rstrip('0').lstrip('0')})"
        paint = f' color="var(--tile-{paint})"' if paint else ""
        return f'<use href="#{name}" transform="{transform}"{paint}/>'

    def glyph(self, character: str, x: float, y: float, em: float, paint: str, file: str = SERIF) -> str:
        """The glyph with the middle of its ink at (x, y)."""
        drawn = outline(character, file)
        name = self.shape(f"g{ord(character):x}", f'<path d="{drawn.path}" fill="currentColor"/>')
        scale = em / 400
        middle_x, middle_y = (drawn.left + drawn.right) / 2, (drawn.top + drawn.bottom) / 2
        return self.use(name, x - middle_x * scale, y - middle_y * scale, scale=scale, paint=paint)

    def word(self, text: str, x: float, baseline: float, em: float, paint: str, file: str = SANS) -> str:
        """A word with its middle at x."""
        scale = em / 400
        pen_x = x - sum(outline(letter, file).advance for letter in text) * scale / 2
        parts = []
        for letter in text:
            drawn = outline(letter, file)
            name = self.shape(f"g{ord(letter):x}", f'<path d="{drawn.path}" fill="currentColor"/>')
            parts.append(self.use(name, pen_x, baseline, scale=scale, paint=paint))
            pen_x += drawn.advance * scale
        return "".join(parts)

    def symbol(self, name: str, content: str, box: str = f"0 0 {WIDTH} {HEIGHT}") -> None:
        self.symbols.append(f'<symbol id="{name}" viewBox="{box}">{content}</symbol>')

    def write(self, path: Path) -> None:
        shapes = "".join(f'<g id="{name}">{content}</g>' for name, content in self.shapes.items())
        path.write_text(
            '<svg xmlns="http://www.w3.org/2000/svg">\n'
            f"<defs>{shapes}</defs>\n" + "\n".join(self.symbols) + "\n</svg>\n",
            encoding="utf-8",
        )


def rounded(x: float, y: float, width: float, height: float, radius: float, paint: str) -> str:
    size = f'width="{number(width)}" height="{number(height)}"'
    return f'<rect x="{number(x)}" y="{number(y)}" {size} rx="{radius}" {paint}/>'


def block(width: float, height: float, top: str, middle: str, bottom: str, shade: str) -> str:
    """A tile lying on the table: its upper side, and below it the two layers of its thickness."""
    drop = HEIGHT - FACE_BOTTOM
    face = height - drop
    return (
        rounded(0, 30, width, height - 30, RADIUS, colour(bottom))
        + rounded(0, 20, width, height - 20 - (HEIGHT - EDGE_BOTTOM), RADIUS, colour(middle))
        + rounded(0, 0, width, face, RADIUS, colour(top))
        + f'<rect x="2.5" y="2.5" width="{number(width - 5)}" height="{number(face - 5)}" rx="{RADIUS - 3}" '
        + f'fill="none" stroke="var(--tile-{shade})" stroke-width="5"/>'
    )


def bodies(sprite: Sprite) -> None:
    """`body` and `back`, upright and lying."""
    for suffix, width, height in (("", WIDTH, HEIGHT), ("-side", HEIGHT, WIDTH)):
        box = f"0 0 {width} {height}"
        sprite.symbol("body" + suffix, block(width, height, "face", "edge", "back", "rim"), box)
        sheen = rounded(20, 20, width - 40, height - 66, 24, 'fill="var(--tile-back-sheen)"')
        sprite.symbol("back" + suffix, block(width, height, "back", "edge", "face", "back-rim") + sheen, box)


def ring_of(count: int, distance: float, along: float, across: float, start: float = 0) -> str:
    """A path of `count` ellipses around the origin, pointing outwards."""
    parts = []
    for index in range(count):
        angle = start + 360 * index / count
        x, y = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        near, far = distance - along, distance + along
        arc = f"A{numbers(along, across, angle)} 1 "
        parts.append(
            f"M{numbers(near * x, near * y)}{arc}1 {numbers(far * x, far * y)}{arc}1 {numbers(near * x, near * y)}z"
        )
    return "".join(parts)


def circle(radius: float, paint: str, x: float = 0, y: float = 0) -> str:
    at = (f' cx="{number(x)}"' if x else "") + (f' cy="{number(y)}"' if y else "")
    return f'<circle{at} r="{number(radius)}" {paint}/>'


def dot(sprite: Sprite, x: float, y: float, radius: float, paint: str) -> str:
    """A coin with a ring of petals."""
    content = (
        circle(50, 'fill="currentColor"')
        + circle(42.5, 'fill="none" stroke="var(--tile-face)" stroke-width="4"')
        + f'<path d="{ring_of(8, 26.5, 8.5, 6.4)}" {colour("face")}/>'
        + circle(11.5, colour("face"))
        + circle(6.5, 'fill="currentColor"')
    )
    return sprite.use(sprite.shape("dot", content), x, y, scale=radius / 50, paint=paint)


def great_dot() -> str:
    """The wheel of 1 dot."""
    outline_ring = 'fill="none" stroke="var(--tile-green)" stroke-width='
    return (
        f'<g transform="translate({numbers(MIDDLE_X, MIDDLE_Y)})">'
        + circle(98, outline_ring + '"12"')
        + circle(83, outline_ring + '"4"')
        + f'<path d="{ring_of(12, 59, 18, 11.5, 15)}" {colour(RED)}/>'
        + f'<path d="{ring_of(12, 77, 3.6, 3.6)}" {colour(GREEN)}/>'
        + circle(34, colour(BLUE))
        + circle(26, 'fill="none" stroke="var(--tile-face)" stroke-width="4"')
        + circle(13, colour(RED))
        + "</g>"
    )


DOTS: dict[int, tuple[float, tuple[tuple[float, float, str], ...]]] = {
    2: (62, ((150, 116, GREEN), (150, 282, BLUE))),
    3: (54, ((78, 90, BLUE), (150, 199, RED), (222, 308, GREEN))),
    4: (52, ((88, 110, BLUE), (212, 110, GREEN), (88, 288, GREEN), (212, 288, BLUE))),
    5: (47, ((80, 90, BLUE), (220, 90, GREEN), (150, 199, RED), (80, 308, GREEN), (220, 308, BLUE))),
    6: (
        47,
        tuple((x, y, GREEN if y < 100 else RED) for y in (86, 208, 313) for x in (92, 208)),
    ),
    7: (
        39,
        (
            (62, 68, GREEN),
            (150, 104, GREEN),
            (238, 140, GREEN),
            *tuple((x, y, RED) for y in (237, 330) for x in (96, 204)),
        ),
    ),
    8: (41, tuple((x, y, BLUE) for y in (60, 152, 246, 338) for x in (98, 202))),
    9: (
        41,
        tuple((x, y, paint) for y, paint in ((76, GREEN), (199, RED), (322, BLUE)) for x in (60, 150, 240)),
    ),
}


def stick(sprite: Sprite, x: float, y: float, paint: str, *, length: float = 150, turn: float = 0) -> str:
    """A bamboo cane with three joints, its middle at (x, y)."""
    half, joint, cane = length / 2, 12, 26
    slot, segment = half - joint - 20, (half - joint / 2) / 2 + joint / 4
    parts = [rounded(-20, at, 40, joint, 6, 'fill="currentColor"') for at in (-half, -joint / 2, half - joint)]
    parts += [
        rounded(-cane / 2, top, cane, bottom - top, 4, 'fill="currentColor"')
        for top, bottom in ((-half + 6, -2), (2, half - 6))
    ]
    parts += [rounded(-4, middle - slot / 2, 8, slot, 4, colour("face")) for middle in (-segment, segment)]
    name = sprite.shape(f"stick{round(length)}", "".join(parts))
    return sprite.use(name, x, y, turn=turn, paint=paint)


STICKS: dict[int, tuple[float, tuple[tuple[float, float, str, float], ...]]] = {
    2: (150, ((150, 110, GREEN, 0), (150, 288, BLUE, 0))),
    3: (150, ((150, 110, GREEN, 0), (88, 288, GREEN, 0), (212, 288, GREEN, 0))),
    4: (150, ((88, 110, GREEN, 0), (212, 110, BLUE, 0), (88, 288, BLUE, 0), (212, 288, GREEN, 0))),
    5: (150, ((74, 110, GREEN, 0), (226, 110, BLUE, 0), (150, 199, RED, 0), (74, 288, BLUE, 0), (226, 288, GREEN, 0))),
    6: (150, tuple((x, y, GREEN if y < 200 else BLUE, 0) for y in (110, 288) for x in (74, 150, 226))),
    7: (
        106,
        ((150, 82, RED, 0), *tuple((x, y, GREEN if x != 150 else BLUE, 0) for y in (204, 322) for x in (74, 150, 226))),
    ),
    8: (
        150,
        tuple(
            (x, y, paint, turn * side)
            for y, side in ((110, 1), (288, -1))
            for x, paint, turn in ((56, GREEN, 0), (119, BLUE, 24), (181, BLUE, -24), (244, GREEN, 0))
        ),
    ),
    9: (
        106,
        tuple((x, y, paint, 0) for y in (76, 199, 322) for x, paint in ((74, GREEN), (150, RED), (226, BLUE))),
    ),
}


def feather(turn: float, length: float) -> str:
    """A tail feather with an eye, hanging from the origin, turned clockwise from straight down."""
    half, tip = number(length * 0.5), number(length)
    return (
        f'<g transform="rotate({number(turn)})">'
        f'<path d="M-5 0Q-9 {half} 0 {tip}Q9 {half} 5 0z" {colour(GREEN)}/>'
        f'<path d="{ellipse_path(0, length - 4, 17, 25)}" {colour(GREEN)}/>'
        f'<path d="{ellipse_path(0, length - 1, 11, 17)}" {colour("gold")}/>'
        f'<path d="{ellipse_path(0, length + 2, 7, 11)}" {colour(BLUE)}/></g>'
    )


def ellipse_path(x: float, y: float, rx: float, ry: float) -> str:
    arc = f"A{numbers(rx, ry)} 0 1 1 "
    return f"M{numbers(x, y - ry)}{arc}{numbers(x, y + ry)}{arc}{numbers(x, y - ry)}z"


def bird() -> str:
    """The peacock of 1 bamboo, perched on a cane."""
    stroke = 'fill="none" stroke-linecap="round" stroke-width='
    back = "M84 128C60 176 68 246 122 276C160 284 196 262 208 222"
    breast = "C200 186 168 176 152 148C146 132 136 118 122 112C106 108 92 114 84 128z"
    wing = "M132 178C168 182 204 206 214 250C176 262 136 246 126 212C123 198 125 186 132 178z"
    crest = "M112 64Q112 40 98 28M122 66Q130 44 126 24M130 72Q146 54 154 36"
    tail = "".join(feather(turn, length) for turn, length in ((-58, 122), (-38, 134), (-18, 138), (2, 134)))
    return (
        f'<g transform="translate(172 236)">{tail}</g>'
        f'<path d="M116 268v62M146 270v60" stroke="var(--tile-gold)" {stroke}"9"/>'
        f'<path d="M52 336H190" stroke="var(--tile-green)" {stroke}"14"/>'
        f'<path d="M74 336h.1M124 336h.1M170 336h.1" stroke="var(--tile-face)" {stroke}"5"/>'
        f'<path d="{back}{breast}" {colour(BLUE)}/>'
        f'<path d="{wing}" {colour(GREEN)}/>'
        f'<path d="M146 202Q176 208 192 232M143 222Q164 230 178 243" stroke="var(--tile-face)" {stroke}"6"/>'
        f'<path d="M84 196Q88 224 106 242M100 180Q102 200 112 216" stroke="var(--tile-face)" {stroke}"5"/>'
        # head with beak, eye and crest
        + circle(37, colour(RED), 106, 98)
        + f'<path d="M74 88L40 106L76 114z" {colour("gold")}/>'
        + circle(10, colour("face"), 96, 92)
        + circle(5, colour(INK), 95, 92)
        + f'<path d="{crest}" stroke="var(--tile-green)" {stroke}"6"/>'
        + circle(8, colour(RED), 97, 27)
        + circle(8, colour("gold"), 126, 22)
        + circle(8, colour(BLUE), 155, 34)
    )


def white_dragon() -> str:
    frame = 'fill="none" stroke="var(--tile-blue)"'
    return (
        f'<rect x="52" y="58" width="196" height="282" rx="20" {frame} stroke-width="15"/>'
        f'<rect x="84" y="90" width="132" height="218" rx="8" {frame} stroke-width="6"/>'
    )


def petal(length: float, width: float, turn: float) -> str:
    """A pointed petal from the origin outwards, as a closed path under a rotation."""
    near, far = -length * 0.35, -length * 0.75
    right, left = numbers(width, near, width, far, 0, -length), numbers(-width, far, -width, near, 0, 0)
    return f'<path transform="rotate({number(turn)})" d="M0 0C{right}C{left}z"/>'


def petals(count: int, length: float, width: float, start: float = 0) -> str:
    return "".join(petal(length, width, start + 360 * index / count) for index in range(count))


def round_petals(count: int, distance: float, radius: float) -> str:
    return f'<path d="{ring_of(count, distance, radius, radius * 0.92, -90)}"/>'


def painted(paint: str, content: str) -> str:
    return f"<g {colour(paint)}>{content}</g>"


def emblem(notation: str) -> str:
    """The small picture of a bonus tile, about 96 units wide around the origin; each has its own shape."""
    strokes = 'fill="none" stroke-linecap="round"'
    match notation:
        case "1f":
            return painted("plum", round_petals(5, 27, 20)) + circle(11, colour("gold"))
        case "2f":
            return (
                painted("orchid", petals(3, 50, 21) + petals(2, 44, 24, 60).replace("rotate(240)", "rotate(300)"))
                + painted("plum", petal(26, 15, 180))
                + circle(8, colour("gold"))
            )
        case "3f":
            return (
                painted("gold", petals(14, 50, 8.5)) + painted("amber", petals(10, 30, 7)) + circle(8, colour("amber"))
            )
        case "4f":
            return (
                f'<path d="M4 48Q-4 10 2 -44" stroke="var(--tile-green)" stroke-width="8" {strokes}/>'
                f'<g {colour(GREEN)}><g transform="translate(0 -30)">{petal(46, 12, 62)}{petal(40, 11, -70)}</g>'
                f'<g transform="translate(0 2)">{petal(48, 12, 112)}{petal(46, 12, -116)}{petal(44, 11, -58)}</g></g>'
            )
        case "1g":
            return (
                f'<path d="M0 48V4" stroke="var(--tile-green)" stroke-width="8" {strokes}/>'
                + painted(GREEN, f'<g transform="translate(0 40)">{petal(44, 14, 58)}{petal(44, 14, -58)}</g>')
                + painted("blossom", f'<g transform="translate(0 -12)">{round_petals(5, 19, 14)}</g>')
                + circle(8, colour("gold"), 0, -12)
            )
        case "2g":
            rays = "".join(
                f'<path transform="rotate({turn})" d="M0 -34V-48" stroke="var(--tile-amber)" '
                f'stroke-width="9" {strokes}/>'
                for turn in range(0, 360, 45)
            )
            return rays + circle(24, colour("gold"))
        case "3g":
            leaf = "M0 50L3 22L24 28L20 18L46 -4L38 -8L42 -24L26 -21L22 -29L10 -16L15 -38L7 -34L0 -50"
            mirrored = "L-7 -34L-15 -38L-10 -16L-22 -29L-26 -21L-42 -24L-38 -8L-46 -4L-20 18L-24 28L-3 22z"
            return f'<path d="{leaf}{mirrored}" {colour("amber")}/>'
        case "4g":
            return "".join(
                f'<path transform="rotate({turn})" d="M0 0V-46M-13 -40L0 -27L13 -40" stroke="var(--tile-ice)" '
                f'stroke-width="7" stroke-linejoin="round" {strokes}/>'
                for turn in range(0, 360, 60)
            )
    raise LookupError(notation)


def at(x: float, y: float, scale: float, content: str) -> str:
    return f'<g transform="translate({numbers(x, y)})scale({number(scale)})">{content}</g>'


def classic() -> Sprite:
    """The face of a set as it is sold in Hong Kong."""
    sprite = Sprite()
    bodies(sprite)
    for rank, character in enumerate(CHARACTERS, 1):
        top = sprite.glyph(character, 150, 106, 152, INK)
        sprite.symbol(f"{rank}m", top + sprite.glyph("萬", 150, 278, 182, RED))
    sprite.symbol("1p", great_dot())
    for rank, (radius, places) in DOTS.items():
        sprite.symbol(f"{rank}p", "".join(dot(sprite, x, y, radius, paint) for x, y, paint in places))
    sprite.symbol("1s", bird())
    for rank, (length, canes) in STICKS.items():
        drawn = (stick(sprite, x, y, paint, length=length, turn=turn) for x, y, paint, turn in canes)
        sprite.symbol(f"{rank}s", "".join(drawn))
    for notation, character, _ in WINDS:
        sprite.symbol(notation, sprite.glyph(character, 150, MIDDLE_Y, 218, INK))
    for notation, character, _, paint in DRAGONS:
        sprite.symbol(notation, sprite.glyph(character, 150, MIDDLE_Y, 222, paint))
    sprite.symbol("7z", white_dragon())
    for series, number_paint, glyph_paint in ((FLOWERS, RED, GREEN), (SEASONS, BLUE, INK)):
        for notation, character, _ in series:
            sprite.symbol(
                notation,
                sprite.glyph(notation[0], 68, 90, 124, number_paint)
                + at(204, 98, 1.1, emblem(notation))
                + sprite.glyph(character, 150, 268, 176, glyph_paint),
            )
    return sprite


def suit_mark(sprite: Sprite, suit: str, x: float, y: float, paint: str, size: float) -> str:
    """The small sign of a suit: the character, the coin or the cane."""
    if suit == "m":
        return sprite.glyph("萬", x, y, size, paint)
    if suit == "p":
        return dot(sprite, x, y, size / 2, paint)
    return sprite.use(sprite.shape("stick150", cane_shape()), x, y, scale=size / 140, paint=paint)


def cane_shape() -> str:
    probe = Sprite()
    stick(probe, 0, 0, GREEN)
    return probe.shapes["stick150"]


def honour_words(sprite: Sprite, paint_of_wind: str, em: float) -> None:
    """Winds as letters, dragons as words, each with its character."""
    for notation, character, letter in WINDS:
        sprite.symbol(
            notation,
            sprite.glyph(letter, 150, 132, em, paint_of_wind, SANS)
            + sprite.glyph(character, 150, 310, 112, paint_of_wind),
        )
    for notation, character, word, paint in DRAGONS:
        sprite.symbol(notation, sprite.glyph(character, 150, 152, 212, paint) + sprite.word(word, 150, 352, 88, paint))
    frame = (
        '<rect x="78" y="54" width="144" height="196" rx="16" fill="none" stroke="var(--tile-blue)" stroke-width="16"/>'
    )
    sprite.symbol("7z", frame + sprite.word("White", 150, 352, 88, BLUE))


def bonus_words(sprite: Sprite) -> None:
    for series, paint in ((FLOWERS, RED), (SEASONS, BLUE)):
        for notation, _, word in series:
            em = min(84.0, 250 / sum(outline(letter, SANS).advance / 400 for letter in word))
            sprite.symbol(
                notation,
                sprite.glyph(notation[0], 82, 140, 214, paint, SANS)
                + at(204, 140, 1.3, emblem(notation))
                + sprite.word(word, 150, 346, em, paint),
            )


def numerals() -> Sprite:
    """Large Arabic numerals and suit letters: characters C, dots D, bamboo B."""
    sprite = Sprite()
    bodies(sprite)
    for suit in SUITS:
        paint = SUIT_COLOURS[suit]
        for rank in range(1, 10):
            sprite.symbol(
                f"{rank}{suit}",
                sprite.glyph(str(rank), 150, 138, 272, INK if suit == "m" else paint, SANS)
                + suit_mark(sprite, suit, 98, 318, paint, 98)
                + sprite.glyph(SUIT_LETTERS[suit], 210, 318, 112, paint, SANS),
            )
    honour_words(sprite, INK, 250)
    bonus_words(sprite)
    return sprite


def contrast() -> Sprite:
    """Numerals as large as they go; the suit is told by letter, sign and the filling of a band, not by colour."""
    sprite = Sprite()
    bodies(sprite)
    for suit in SUITS:
        paint = SUIT_COLOURS[suit]
        bands = {
            "m": rounded(26, 272, 248, 104, 20, colour(paint)),
            "p": rounded(26, 272, 248, 104, 52, colour(paint)),
            "s": rounded(31, 277, 238, 94, 16, f'fill="none" stroke="var(--tile-{paint})" stroke-width="12"'),
        }
        sign = paint if suit == "s" else "face"
        for rank in range(1, 10):
            mark = (
                circle(30, colour("face"), 104, 324)
                if suit == "p"
                else suit_mark(sprite, suit, 104, 324, sign, 76 if suit == "m" else 66)
            )
            sprite.symbol(
                f"{rank}{suit}",
                sprite.glyph(str(rank), 150, 140, 300, INK, SANS)
                + bands[suit]
                + mark
                + sprite.glyph(SUIT_LETTERS[suit], 200, 324, 92, sign, SANS),
            )
    honour_words(sprite, INK, 290)
    bonus_words(sprite)
    return sprite


def main() -> None:
    for name, draw in (("classic", classic), ("numerals", numerals), ("contrast", contrast)):
        path = HERE / f"{name}.svg"
        draw().write(path)
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
