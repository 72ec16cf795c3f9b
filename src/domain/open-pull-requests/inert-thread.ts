// The program of the thread that makes texts for forges harmless.
import { inertMarkdown, type OwnRepository } from '../../common/inert-markdown.ts';
import { serveTasks } from '../../threads/serve-tasks.ts';

/** Texts to make harmless. `own`: issues of it may be closed. */
export interface InertTask {
  readonly texts: readonly string[];
  readonly own: OwnRepository | null;
}

serveTasks(({ texts, own }: InertTask): string[] => texts.map((text) => inertMarkdown(text, own)));
