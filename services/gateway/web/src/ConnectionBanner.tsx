import type { Connection } from "./model";

const WORDS: Record<Exclude<Connection, "live">, string> = {
  connecting: "Connecting …",
  lost: "Connection lost. Trying again; your seat is kept and its clock runs on.",
  replaced: "This table is open in another window, which has taken over.",
};

interface BannerProps {
  connection: Connection;
  onTakeBack: () => void;
}

/** Says above everything that the page is not live. */
export function ConnectionBanner({ connection, onTakeBack }: BannerProps) {
  if (connection === "live") return null;
  return (
    <div class={`banner ${connection}`} role="status">
      <span>{WORDS[connection]}</span>
      {connection === "replaced" && (
        <button type="button" class="plain" onClick={onTakeBack}>
          Play here
        </button>
      )}
    </div>
  );
}
