import type { Context, Services } from '../../context.ts';
import { expiryOf, type KeySignature, openKeyLink } from '../attachments/links.ts';

/** Lifetime of a link: files of a workspace may contain secrets, and a page asks for a new link at each click. */
const linkLifetimeMs = 10 * 60_000;

/** The path below which all files of workspaces are. */
export const workspaceFilesPath = '/workspace-files';

/** The target of a link: one file, or a directory as an archive. */
export interface LinkedFile {
  /** Unprefixed. */
  readonly sessionId: string;
  readonly checkpointId: string;
  /** Relative to the workspace; '' for the workspace itself. */
  readonly path: string;
  readonly isArchive: boolean;
}

/** The parts of a link. All of them come from the caller and are untrusted. */
export interface WorkspaceFileLink extends LinkedFile, KeySignature {}

/** Returns the file name under which a browser stores a download. */
export function downloadName({ path, isArchive }: Pick<LinkedFile, 'path' | 'isArchive'>): string {
  const name = path.slice(path.lastIndexOf('/') + 1) || 'workspace';
  return isArchive ? `${name}.tar` : name;
}

/** Creates a URL that downloads a file, or a directory as an archive, in the viewer's name, for ten minutes. */
export function workspaceFileLink(context: Pick<Context, 'keyring' | 'baseUrl' | 'now' | 'viewer'>, file: LinkedFile) {
  const { apiKeyId, consoleSessionId = '' } = context.viewer;
  const { expires } = expiryOf(context, linkLifetimeMs);
  const parts = { ...file, apiKeyId: apiKeyId ?? '', consoleSessionId, expires };
  const query = new URLSearchParams({
    path: file.path,
    ...(file.isArchive && { archive: 'tar' }),
    apiKeyId: parts.apiKeyId,
    consoleSessionId,
    expires,
    signature: context.keyring.sign(signed(parts)),
  });
  const name = encodeURIComponent(downloadName(file).toWellFormed());
  return `${context.baseUrl}${workspaceFilesPath}/${file.sessionId}/${file.checkpointId}/${name}?${query}`;
}

/** Returns the context in whose name a link is used. Throws the errors of {@link openKeyLink}. */
export function openWorkspaceFileLink(
  services: Services,
  link: WorkspaceFileLink,
  address: string | null,
): Promise<Context> {
  return openKeyLink(services, signed(link), link, address);
}

// One line per part. The first line distinguishes the kinds of signed texts.
function signed(parts: Omit<WorkspaceFileLink, 'signature'>): string {
  const { sessionId, checkpointId, path, isArchive, apiKeyId, consoleSessionId, expires } = parts;
  const kind = isArchive ? 'workspace-archive' : 'workspace-file';
  return [kind, sessionId, checkpointId, path.toWellFormed(), apiKeyId, consoleSessionId, expires]
    .map(encodeURIComponent)
    .join('\n');
}
