/** The database, for the reads of one list. The same server answers all of them. */
export interface Reader {
  readonly target: 'primary' | 'replica';
  /** See `query` of the store. */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Reads a list. It may be called twice: again with the primary, after a replica has failed. */
export type ListRead<T> = (reader: Reader) => Promise<T>;

/** A store as far as lists use it. */
export interface ListStore {
  /**
   * Reads a list: from a read replica that has everything that is visible at the call, or else from the primary. `read` may run twice, so
   * it must change nothing. Throws inside a transaction.
   */
  readList<T>(read: ListRead<T>): Promise<T>;
}

/** Reads a list in one statement. */
export const queryList = <Row>(store: ListStore, sql: string, values: readonly unknown[]): Promise<Row[]> =>
  store.readList((reader) => reader.query<Row>(sql, values));
