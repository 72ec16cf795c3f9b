// The program of the thread that makes the texts of reviews harmless.
import { inertMarkdown } from '../../common/inert-markdown.ts';
import { serveTasks } from '../../threads/serve-tasks.ts';

serveTasks((texts: readonly string[]): string[] => texts.map(inertMarkdown));
