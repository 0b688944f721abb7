import { CALL_KEY, choiceKeys } from "../keys";
import type { Choice } from "../model";
import { choiceDetail, choiceName, choiceVerb } from "../words";
import { bestChoice, CALL_COLUMN, slots } from "./layout";

interface ActionsProps {
  choices: readonly Choice[];
  answered: boolean;
  onChoose: (id: string) => void;
  /** Whether the next discard carries an Original Call; null when none may. */
  calling: boolean | null;
  onCalling: (calling: boolean) => void;
}

/** The choices above the own tiles, each kind always in its own column. */
export function Actions({ choices, answered, onChoose, calling, onCalling }: ActionsProps) {
  const keys = choiceKeys(choices);
  const best = bestChoice(choices);
  return (
    <div class="actions" role="group" aria-label="Actions">
      {slots(choices).map(({ choice, column, level }) => {
        const detail = choiceDetail(choice);
        const key = keys.get(choice.id);
        return (
          <button
            key={choice.id}
            type="button"
            class={`action ${choice.action.type}${choice.id === best ? " best" : ""}`}
            style={`--slot:${column};--level:${level}`}
            data-level={level}
            disabled={answered}
            aria-label={choiceName(choice)}
            aria-keyshortcuts={key}
            onClick={() => onChoose(choice.id)}
          >
            <span class="label">
              <span class="verb">{choiceVerb(choice)}</span>
              {detail && <span class="detail">{detail}</span>}
            </span>
            {key && <kbd>{key}</kbd>}
          </button>
        );
      })}
      {calling !== null && (
        <button
          type="button"
          class={`action call${calling ? " on" : ""}`}
          style={`--slot:${CALL_COLUMN};--level:0`}
          disabled={answered}
          aria-pressed={calling}
          aria-keyshortcuts={CALL_KEY}
          title="Your hand is frozen from then on: only a win changes it, and it is worth one double more."
          onClick={() => onCalling(!calling)}
        >
          <span class="label">
            <span class="verb">Original Call</span>
          </span>
          <kbd>{CALL_KEY}</kbd>
        </button>
      )}
    </div>
  );
}
