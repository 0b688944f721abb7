import { useEffect, useState } from "preact/hooks";

const STEP_MS = 100;

/** The server's time, read anew ten times a second while `running`, and at once when the page is shown again. */
export function useNow(serverOffsetMs: number, running: boolean): number {
  const [local, setLocal] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return;
    const read = () => setLocal(Date.now());
    read();
    const timer = setInterval(read, STEP_MS);
    document.addEventListener("visibilitychange", read);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", read);
    };
  }, [running]);
  return local + serverOffsetMs;
}
