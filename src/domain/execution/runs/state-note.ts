import type { Context } from '../../context.ts';
import type { BeginningData } from '../../sessions/checkpoints/beginning.ts';
import { pointText, type RewindData } from '../../sessions/checkpoints/rewind-data.ts';
import type { LaunchPlan } from './launch.ts';

/** The reason for which the files of an agent are not as its last turn left them, for the agent. */
export interface StateNote {
  readonly text: string;
  /** True if the agent should know the work before it: it gets a digest unless it has its own memory. */
  readonly hasHistory: boolean;
}

// After the start of the last turn. `$2`: that turn was interrupted, and began with such a note if it says so. The turn's other attempts
// count with it.
const lastChange = `
  select e.kind, e.data from log_entry e
   where e.session_id = $1 and (e.kind = 'REWIND' or (e.kind = 'NOTICE' and e.data ? 'beginning'))
     and e.seq > coalesce((select max(t.seq) from log_entry t
           where t.session_id = $1 and t.kind = 'TURN' and t.data->>'phase' = 'started'
             and not ($2::boolean and t.data ? 'hasStateNote')), 0)
   order by e.seq desc limit 1`;

type Change =
  | { readonly kind: 'REWIND'; readonly data: RewindData }
  | { readonly kind: 'NOTICE'; readonly data: { readonly beginning: BeginningData } };

/**
 * Reads the note for the next turn of a session that was rewound since its last turn, or that began with the files of another one and has
 * had no turn; null: neither. An interrupted turn is the next one itself.
 */
export async function readStateNote(
  context: Pick<Context, 'store'>,
  sessionId: string,
  { isInterrupted, plan }: { readonly isInterrupted: boolean; readonly plan: Pick<LaunchPlan, 'repositories'> },
): Promise<StateNote | null> {
  const [change] = await context.store.query<Change>(lastChange, [sessionId, isInterrupted]);
  if (!change) return null;
  if (change.kind === 'REWIND') return { text: rewindText(change.data), hasHistory: true };
  const { beginning } = change.data;
  const intro = beginning.kind === 'fork' ? forkText(beginning) : snapshotText(beginning);
  const text = [intro, ...branchTexts(beginning, plan)].join('\n\n');
  return { text, hasHistory: beginning.kind === 'fork' };
}

function rewindText(data: RewindData): string {
  return `The user has reverted this session: your files and your memory are at ${pointText(data)}, again. Later messages of the session no longer hold, and what you did after that time is undone, except for what had left this machine, such as pushed commits.`;
}

function forkText(beginning: BeginningData): string {
  return `This session is a fork of another one, at ${pointText(beginning)}: your files and your memory are from there. The other session goes on without you. From now on you work for the user of this session.`;
}

function snapshotText({ snapshotName, savedAt }: BeginningData): string {
  return `Your workspace is not empty: it has the files of the snapshot ${JSON.stringify(snapshotName)}, as another session left them on ${savedAt.slice(0, 10)}.`;
}

// The clone came with the files. The service switched its branch unless the agent of the other session had left it on another one.
function branchTexts({ clones }: BeginningData, { repositories = [] }: Pick<LaunchPlan, 'repositories'>): string[] {
  return repositories.flatMap(({ directory, branch, isReadOnly }) => {
    const clone = clones.find((each) => each.directory === directory);
    if (!clone || isReadOnly || clone.branch === branch) return [];
    return [
      `Your branch in \`${directory}\` is now \`${branch}\`. It begins where the other session's branch \`${clone.branch}\` was. Pushes to other branches are refused. If \`git -C ${directory} branch --show-current\` prints another branch, run: \`git -C ${directory} switch -c ${branch}\``,
    ];
  });
}
