import { type RefObject, useCallback, useEffect, useMemo, useRef } from 'react';

interface ActiveChoice {
  /** Returns the choice that Enter takes; null: none yet. */
  active(): HTMLElement | null;
  activate(choice: HTMLElement | undefined): void;
  /** Returns all choices that are shown, in their order. */
  findChoices(): HTMLElement[];
}

/**
 * The active choice of a combobox in `box`, whose field keeps the focus (`aria-activedescendant`). A choice has `data-choice` and an
 * id. The pointer activates the choice below it.
 */
export function useActiveChoice(box: RefObject<HTMLElement | null>): ActiveChoice {
  const current = useRef<HTMLElement | null>(null);
  const activate = useCallback(
    (choice: HTMLElement | undefined) => {
      current.current?.setAttribute('aria-selected', 'false');
      current.current = choice ?? null;
      choice?.setAttribute('aria-selected', 'true');
      choice?.scrollIntoView({ block: 'nearest' });
      box.current?.querySelector('[role="combobox"]')?.setAttribute('aria-activedescendant', choice?.id ?? '');
    },
    [box],
  );
  useEffect(() => {
    const element = box.current;
    // Not "over": the list may move below a pointer that rests.
    const move = ({ target }: PointerEvent) => {
      const choice = (target as Element).closest<HTMLElement>('[data-choice]');
      if (choice !== null && choice !== current.current) activate(choice);
    };
    element?.addEventListener('pointermove', move);
    return () => element?.removeEventListener('pointermove', move);
  }, [box, activate]);
  return useMemo(
    () => ({
      active: () => current.current,
      activate,
      findChoices: () => [...(box.current?.querySelectorAll<HTMLElement>('[data-choice]') ?? [])],
    }),
    [box, activate],
  );
}
