import { usageFilters as texts, usageFigures } from '../texts/usage.ts';
import { Button } from '../ui/button.tsx';
import type { Filters } from './filters.ts';

interface UsageFiltersProps {
  readonly filters: Filters;
  readonly onChange: (changes: Partial<Filters>) => void;
}

/** The filters that a link from Usage sets, each with a button that removes it. */
export function UsageFilters({ filters: { outcome, archived }, onChange }: UsageFiltersProps) {
  const applied: readonly (readonly [text: string, changes: Partial<Filters>])[] = [
    ...(outcome
      ? [[usageFigures.outcomes[outcome as keyof typeof usageFigures.outcomes], { outcome: '' }] as const]
      : []),
    ...(archived === 'all' ? [[texts.withArchived, { archived: '' }] as const] : []),
  ];
  if (applied.length === 0) return null;
  return (
    <ul className="applied-filters" aria-label={texts.label}>
      {applied.map(([text, changes]) => (
        <li key={text}>
          <Button
            size="small"
            icon="close"
            aria-label={texts.remove({ filter: text })}
            onClick={() => onChange(changes)}
          >
            {text}
          </Button>
        </li>
      ))}
    </ul>
  );
}
