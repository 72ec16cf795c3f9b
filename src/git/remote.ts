/** An address for git's requests, with the variables that lead them to a repository. */
export interface GitRemote {
  /** The address of the repository, for one gateway or forge, without a credential. Only `http` works. */
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}
