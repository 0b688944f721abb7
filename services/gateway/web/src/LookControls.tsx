import type { Look, Scheme } from "./look";
import type { Face } from "./tiles/faces";

interface LookControlsProps {
  look: Look;
  onLook: (look: Look) => void;
}

const FACE_NAMES: Record<Face, string> = { classic: "Classic", numerals: "Numerals", contrast: "High contrast" };
const SCHEME_NAMES: Record<Scheme, string> = { system: "As the system", dark: "Dark", light: "Light" };

/** Tile face and colours, kept in this browser. */
export function LookControls({ look, onLook }: LookControlsProps) {
  return (
    <div class="look">
      <label>
        <span>Tiles</span>
        <select value={look.face} onChange={(event) => onLook({ ...look, face: event.currentTarget.value as Face })}>
          {Object.entries(FACE_NAMES).map(([face, name]) => (
            <option key={face} value={face}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Colours</span>
        <select
          value={look.scheme}
          onChange={(event) => onLook({ ...look, scheme: event.currentTarget.value as Scheme })}
        >
          {Object.entries(SCHEME_NAMES).map(([scheme, name]) => (
            <option key={scheme} value={scheme}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
