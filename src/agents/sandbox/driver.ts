import type { Readable, Writable } from 'node:stream';
import type { RestoreReport, RestoreRequest, Saver, SaverTarget } from '../../checkpoints/driver.ts';
import type {
  Clone,
  CloneRequest,
  PushedCommits,
  PushedCommitsRequest,
  PushedRefRequest,
  RefAfterPush,
} from '../../git/clone.ts';
import type { Snapshot, SnapshotRequest } from '../../git/diff/snapshot.ts';
import type { FilesAtCommit, RepositoryFilesRequest } from '../../git/read-files.ts';
import type { AgentPaths, SandboxSettings } from './settings.ts';
import type { Strictness } from './strictness.ts';
import type { WorkspaceFiles, Workspaces } from './workspaces.ts';

/** Facts about a driver that do not depend on the machine, and so are the same in every process. */
export interface DriverDescription {
  readonly name: string;
  /** Describes what agents with these settings are isolated from. */
  strictness(settings: SandboxSettings | null): Strictness;
  /**
   * Returns the program that this host needs to start a command with these settings. Null: none, because the command
   * runs on another machine.
   */
  hostProgram(command: readonly string[], settings: SandboxSettings | null): string | null;
  /** True if the program of a profile's `command` is a file of this host. */
  readonly runsHostPrograms: boolean;
}

/**
 * Runs agents on machines of one kind: this host, a container, a pod, another host. Everything that depends on the
 * machine (processes, paths, sockets) is behind this interface; test/support/driver-conformance.ts has its rules.
 */
export interface SandboxDriver extends DriverDescription {
  /** The workspaces of all sessions whose agents this driver has run. Drivers of one machine share them. */
  readonly workspaces: Workspaces;
  /**
   * Opens a sandbox for one run of a session: its workspace and home, which are created if they are missing, and a
   * runtime directory. No process runs yet. Rejects with a sentence if the machine refuses.
   */
  open(request: SandboxRequest): Promise<Sandbox>;
  /**
   * Replaces the workspace and home of a session by a saved state, completely or not at all. No sandbox of the session may be
   * open. Rejects with CheckpointError. A driver that cannot save workspaces omits it.
   */
  restoreWorkspace?(request: WorkspaceRestore): Promise<RestoreReport>;
  /**
   * Opens the files of a repository at one commit, without a clone and without a sandbox. Null: it is empty, or this machine lacks the commit.
   * Rejects with RepositoryError. A driver without git omits it.
   */
  openRepositoryFiles?(request: RepositoryFilesRequest): Promise<FilesAtCommit | null>;
}

/** The state with which the workspace and home of a session are replaced. */
export interface WorkspaceRestore extends Pick<RestoreRequest, 'content' | 'key' | 'segments' | 'signal'> {
  readonly sessionId: string;
}

/** The session for which a sandbox is opened. */
export interface SandboxRequest {
  readonly sessionId: string;
  readonly settings: SandboxSettings | null;
  /** True if the session starts with an empty workspace and home: earlier ones are discarded. */
  readonly isNew: boolean;
}

/** The sandbox of one run. One agent runs in it; further processes, such as a setup, may run before. */
export interface Sandbox {
  /** The directories as processes in the sandbox see them. */
  readonly paths: AgentPaths;
  /** The path of a Node.js program for processes in the sandbox. */
  readonly nodeProgram: string;
  /** The files of the session's workspace. They are usable before a process starts, and after it has ended. */
  readonly files: WorkspaceFiles;
  /**
   * Writes a file of this run, which processes find by its name in `paths.runtime`. Replaces an earlier one, and
   * follows no link that an agent left there.
   */
  writeRunFile(name: string, content: string): Promise<void>;
  /**
   * Clones a repository into the workspace, where an earlier run has not. Makes the objects readable that its clone
   * borrows, and those of no other repository. Call it before the first process starts. Null: the directory has files
   * already. A clone of another session then gets its new branch. If the files came from another machine, their clone gets the objects
   * of this one, which are fetched. With `replaced`, the clone that is there becomes a new one: see {@link SandboxClone.replaced}. Rejects with
   * RepositoryError. A driver without git omits it.
   */
  cloneRepository?(request: SandboxClone): Promise<Clone | null>;
  /**
   * Reads the commits that were pushed to the forge. Rejects with RepositoryError. A driver without {@link Sandbox.cloneRepository} omits it.
   */
  readPushedCommits?(request: PushedCommitsRequest): Promise<PushedCommits>;
  /**
   * Asks the forge for a ref after a push of which no answer came. Rejects with RepositoryError. A driver without
   * {@link Sandbox.cloneRepository} omits it.
   */
  readPushedRef?(request: PushedRefRequest): Promise<RefAfterPush>;
  /**
   * Reads the files of a clone to compare them with its base; processes may run meanwhile. The caller closes the
   * snapshot. Rejects with RepositoryError. A driver without {@link Sandbox.cloneRepository} omits it.
   */
  openSnapshot?(request: SandboxSnapshot): Promise<Snapshot>;
  /**
   * Begins to save the workspace and home; processes may run meanwhile. The caller closes the saver before the sandbox. A
   * driver that cannot save workspaces omits it.
   */
  openSaver?(options: Pick<SaverTarget, 'key' | 'from' | 'segments' | 'limits'>): Promise<Saver>;
  /**
   * Makes a service of ours reachable from inside, and returns an address that is valid there. Services for HTTP must
   * be reached before the process that uses them starts. Rejects if the service cannot listen.
   */
  reach<T extends Listening>(service: Service<T>): Promise<ReachedService<T>>;
  /**
   * Starts a process in the workspace. Rejects with an error with the system's `code` if the program cannot start; no
   * process is left then.
   */
  start(launch: ProcessLaunch): Promise<SandboxProcess>;
  /** Removes the files of the run; workspace and home stay. Call it when all processes and services have ended. */
  close(): Promise<void>;
}

/** A repository to clone into a workspace. */
export interface SandboxClone extends Omit<CloneRequest, 'target' | 'borrowerId'> {
  /** The path of its directory in the workspace, with one to four names; null: the workspace itself. */
  readonly directory: string | null;
  /** The branch of another session, whose clone the workspace has: it gets `branch` at its commit. Null or missing: none. */
  readonly formerBranch?: string | null;
  /** The commit that the work of earlier runs began at; null or missing: unknown. */
  readonly base?: string | null;
  /**
   * The commit of a clone that another session made: its repository is replaced by a new one, and its files are brought from this commit to
   * the requested state. Files that git did not track stay. If that fails, the directory is emptied, and the clone has
   * {@link Clone.isEmptied}. Null or missing: the clone is the session's own.
   */
  readonly replaced?: string | null;
  /** Called with a sentence if a clone of an earlier run lacks objects that cannot be fetched now. */
  onIncomplete?(reason: string): void;
}

/** A clone in a workspace to compare with its base. */
export interface SandboxSnapshot
  extends Pick<SnapshotRequest, 'base' | 'signal' | 'limits' | 'since'>,
    Pick<SandboxClone, 'repository' | 'directory'> {}

/** A service of this process that an agent may connect to, such as the gateway to its model. */
export type Service<T extends Listening = Listening> = HttpService<T> | StreamService<T>;

/** A service that agents call by a URL. It checks a key, because other processes may reach it too. */
export interface HttpService<T extends Listening = Listening> {
  readonly protocol: 'http';
  /** Unique in a run: a short name for files. */
  readonly name: string;
  /**
   * Starts to accept connections where the driver says: at a socket's path, or, with null, at a free port of the
   * loopback. A driver on another machine forwards connections to it. Rejects if that fails.
   */
  listen(socketPath: string | null): Promise<T>;
}

/** A service to which a program that the agent starts connects its stdio. It trusts everybody who can open its socket. */
export interface StreamService<T extends Listening = Listening> {
  readonly protocol: 'stream';
  /** See {@link HttpService}. */
  readonly name: string;
  /** Starts to accept connections at a socket that only the agent can reach. Rejects if that fails. */
  listen(socketPath: string): Promise<T>;
}

/** A service that accepts connections. */
export interface Listening {
  /** The port of the loopback; null: it listens at a socket. */
  readonly port: number | null;
  /** Ends the service and all of its connections. */
  close(): Promise<void>;
}

/** A service, and its address inside the sandbox. */
export interface ReachedService<T extends Listening = Listening> {
  /** For HTTP `http://<host>:<port>`; for streams the path of a socket. */
  readonly address: string;
  readonly listening: T;
}

/** A process to start. */
export interface ProcessLaunch {
  /** Program and arguments; a program without a slash is searched for in the sandbox's PATH. */
  readonly command: readonly string[];
  /** Variables, in addition to those that the driver sets: HOME, PATH and the like. */
  readonly env: Readonly<Record<string, string>>;
}

/** The end of a process. */
export interface ProcessExit {
  /** Null: a signal ended it, or the code is unknown. */
  readonly code: number | null;
  /** The name of the signal that ended it, even if the sandbox reports it as a code; null: none. */
  readonly signal: string | null;
  /** The cause outside of the process, such as a limit or a lost connection; null: none is known. */
  readonly reason: string | null;
}

/** The times that a process has to end in {@link SandboxProcess.stop}. */
export interface StopGraces {
  /** After the end of stdin. */
  readonly stdinMs: number;
  /** After SIGTERM. */
  readonly termMs: number;
}

/** A period in milliseconds of `performance.now()`. */
export interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A process in a sandbox, with its descendants. */
export interface SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process has ended; never rejects. Its descendants may still run. */
  readonly exited: Promise<ProcessExit>;
  /** Sends SIGKILL at once. {@link SandboxProcess.stop} is still necessary. */
  kill(): void;
  /**
   * Kills the commands that the process started in a period and that still run: its descendants in a process group that
   * is not older. Other descendants are its own helpers. Never rejects. A driver that cannot find them omits it.
   */
  killCommands?(startedIn: Period): Promise<void>;
  /**
   * Ends stdin, then sends SIGTERM, then SIGKILL; kills all descendants, destroys the streams, and releases what
   * belongs to the process. Also necessary for a process that has ended. Never rejects.
   */
  stop(graces: StopGraces): Promise<void>;
}
