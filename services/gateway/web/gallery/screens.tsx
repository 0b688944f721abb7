import type { JSX } from "preact";

export const SCREENS: Record<string, JSX.Element> = {};
