"""Tiles that travel: never larger than they lie anywhere, and not at all for those who want no motion."""

from __future__ import annotations

from typing import Final

import pytest

from tests.browser.conftest import NewPlayer

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

# Looks at every tile on the felt in every frame: how wide the widest is drawn, how wide an own tile lies, how many
# travel.
WATCH: Final = """() => {
  const seen = { widest: 0, own: 0, moved: 0 };
  window.seen = seen;
  const look = () => {
    for (const tile of document.querySelectorAll(".felt .tile")) {
      const box = tile.getBoundingClientRect();
      seen.widest = Math.max(seen.widest, Math.min(box.width, box.height));
      seen.moved += tile.getAnimations().some((each) => !(each instanceof CSSTransition)) ? 1 : 0;
      if (tile.closest(".own-tile")) seen.own = Math.max(seen.own, tile.parentElement.getBoundingClientRect().width);
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desktop", "phone"])
async def test_no_tile_is_drawn_larger_than_an_own_one(new_player: NewPlayer, size: tuple[int, int]) -> None:
    player = await new_player(viewport={"width": size[0], "height": size[1]})
    await player.play_with_computers(level="easy")
    await player.own_turn()
    await player.page.evaluate(WATCH)
    for _ in range(6):
        await player.discard()
        await player.own_turn()
    seen = await player.page.evaluate("window.seen")
    assert seen["moved"] > 0
    assert seen["widest"] <= seen["own"] + 1


async def test_without_motion_nothing_travels(new_player: NewPlayer) -> None:
    player = await new_player(reduced_motion="reduce")
    await player.play_with_computers(level="easy")
    await player.own_turn()
    await player.page.evaluate(WATCH)
    for _ in range(3):
        await player.discard()
        await player.own_turn()
    seen = await player.page.evaluate("window.seen")
    assert seen["own"] > 0
    assert seen["moved"] == 0
