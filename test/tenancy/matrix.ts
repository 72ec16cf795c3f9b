import type { IdKind } from '../../src/domain/ids.ts';
import type { Principal } from './principals.ts';
import {
  attribute,
  type Row,
  type Rows,
  readRows,
  readStamps,
  restoreRows,
  type TenantName,
  tellingStrings,
} from './rows.ts';
import { foreignIds, foreignTexts, neverId, ownIds, rowOf } from './slots.ts';
import type { World } from './world.ts';

/** One HTTP request, without who sends it. */
export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Instead of a body: the fields of a form, each sent as a file. */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: string;
}

/** A place of an operation where an id goes. */
export interface Slot {
  readonly name: string;
  readonly kinds: readonly IdKind[];
  readonly isRequired: boolean;
  /** Only on the way to what the operation is about: always filled with an own thing. */
  readonly isOnTheWay?: boolean;
  /** Tried only together with the operation's others. */
  readonly isOfMany?: boolean;
  /** Which rows of the kind fit, when not all do. */
  readonly fits?: (row: Row) => boolean;
}

/** What an operation is filled with. */
export interface Fill {
  /** Bare ids by the slots' names; a slot that is not here is left out. */
  readonly ids: ReadonlyMap<string, { readonly kind: IdKind; readonly id: string }>;
  /** Texts by the places' names. */
  readonly texts: ReadonlyMap<string, string>;
  /** Which value of each enum, and which of several own things. */
  readonly variant: number;
  /** Whether what may be left out is given. */
  readonly isFull: boolean;
}

/** A route, a field or a mutation, and how it is called. */
export interface Operation {
  readonly name: string;
  readonly isWrite: boolean;
  readonly slots: readonly Slot[];
  /** Places whose text names or finds something: their names. */
  readonly texts: readonly string[];
  /** Whether there is more to give than what must be. */
  readonly hasOptional: boolean;
  /** How many variants there are to try. */
  readonly variants: number;
  call(fill: Fill): HttpCall;
  isSuccess(answer: Answer): boolean;
  /** Told of every answer to a call with own things only. */
  onOwnAnswer?(answer: Answer): void;
}

/** Sends a call as whoever has the token; null: nobody. */
export async function send(world: World, token: string | null, call: HttpCall): Promise<Answer> {
  const { method, path, body } = call;
  const response = await fetch(world.test.url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(call.form === undefined ? {} : { body: formOf(call.form) }),
  });
  const headers = [...response.headers].filter(([name]) => name !== 'date').map((each) => each.join(': '));
  return { status: response.status, text: await response.text(), headers: headers.join('\n') };
}

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(fields)) form.append(name, new Blob([text]), 'walk.txt');
  return form;
}

const cut = (answer: Answer) => `${answer.status} ${answer.text.slice(0, 400)}`;

/** Walks operations as principals and keeps what it found. */
export class Matrix {
  readonly world: World;
  /** Sentences; none: nothing leaked. */
  readonly problems: string[] = [];
  /** Pairs of an operation and a principal. */
  readonly cases = new Set<string>();
  /** Operations that some principal brought to a good end with its own things. */
  readonly succeeded = new Set<string>();
  /** `operation / slot` where an own id did otherwise than one that never existed. */
  readonly lookedUp = new Set<string>();
  /** Which principals brought which writes to a good end. */
  readonly acts = new Map<string, Set<string>>();
  requests = 0;
  private settled = 0;
  /** The wanted rows of each table as one text. */
  private readonly texts = new Map<string, string>();
  private readonly stamps = new Map<string, string>();

  constructor(world: World) {
    this.world = world;
  }

  /** Sends, and looks for what the principal may not see. */
  async check(principal: Principal, name: string, call: HttpCall): Promise<Answer> {
    this.cases.add(`${name} / ${principal.name}`);
    this.requests += 1;
    const answer = await send(this.world, principal.token, call);
    this.inspect(principal, name, call, `${answer.headers}\n${answer.text}`, cut(answer));
    if (answer.status >= 500 || answer.text.includes('INTERNAL_SERVER_ERROR'))
      this.problems.push(`${name} as ${principal.name} fails: ${cut(answer)} to ${JSON.stringify(call).slice(0, 600)}`);
    return answer;
  }

  /** A problem for everything hidden in what was received, unless it was sent. */
  inspect(principal: Principal, name: string, call: unknown, received: string, shown = received.slice(0, 400)): void {
    const found = [...tellingStrings(received)].filter((each) => principal.hidden.has(each));
    if (found.length === 0) return;
    const sent = JSON.stringify(call);
    const own = tellingStrings(sent);
    const leaked = found.filter((each) => !own.has(each));
    if (leaked.length > 0)
      this.problems.push(`${name} as ${principal.name} leaks ${leaked.join(', ')}: ${shown} to ${sent.slice(0, 600)}`);
  }

  /** One operation as one principal: foreign things one at a time, then all its own. */
  async walk(principal: Principal, operation: Operation): Promise<void> {
    // A read comes first with own things, which says too whether the door takes the key at all.
    if (!operation.isWrite && (await this.walkOwn(principal, operation)) === 401) return;
    if (operation.isWrite && !(await this.isTaken(principal, operation))) return;
    const open = operation.slots.filter((slot) => !slot.isOnTheWay);
    for (const slot of open.filter((each) => !each.isOfMany)) await this.walkSlot(principal, operation, slot);
    if (open.length > 1) await this.walkTogether(principal, operation, open);
    for (const name of operation.texts) await this.walkText(principal, operation, name);
    if (operation.isWrite) await this.walkOwn(principal, operation);
  }

  // GraphQL takes every kind of key; a version of REST only its own.
  private async isTaken(principal: Principal, operation: Operation): Promise<boolean> {
    const first = this.fill(principal, operation, 0, false);
    const ids = new Map([...first.ids].map(([name, { kind }]) => [name, { kind, id: neverId }]));
    const call = operation.call({ ...first, ids });
    if (call.path === '/graphql') return true;
    return (await this.ask(principal, operation, { ...first, ids }, neverId)).answer.status !== 401;
  }

  private async walkOwn(principal: Principal, operation: Operation): Promise<number> {
    const hasMore = operation.hasOptional;
    let status = 0;
    // Once somebody has come through, the others need not try everything.
    const most = this.succeeded.has(operation.name) ? operation.variants : Math.max(operation.variants, 4);
    for (let n = 0; n < (hasMore ? most * 2 : most); n++) {
      const fill = this.fill(principal, operation, n % most, n >= most);
      const answer = await this.check(principal, operation.name, operation.call(fill));
      operation.onOwnAnswer?.(answer);
      status = answer.status;
      if (status === 401) return status;
      if (!operation.isSuccess(answer)) continue;
      this.succeeded.add(operation.name);
      if (operation.isWrite) {
        this.acts.set(operation.name, (this.acts.get(operation.name) ?? new Set()).add(principal.name));
        await this.settle(principal, operation.name, true);
        return status;
      }
      if (n >= most || !hasMore) return status;
      n = Math.max(n, most - 1);
    }
    return status;
  }

  private async walkSlot(principal: Principal, operation: Operation, slot: Slot): Promise<void> {
    for (const kind of slot.kinds) {
      const foreign = [...foreignIds(this.world, principal, kind, slot.fits)];
      for (const [n, base] of this.bases(principal, operation, slot).entries()) {
        const ask = (id: string) =>
          this.ask(principal, operation, { ...base, ids: with_(base.ids, slot, kind, id) }, id);
        const never = await ask(neverId);
        for (const [tenant, id] of foreign) {
          // The first time all of them, then one organization of the same enterprise and one of another.
          if (n > 0 && tenant !== 'B' && tenant !== 'X') continue;
          const there = await ask(id);
          if (there.same !== never.same) this.differ(principal, operation, `${slot.name} of ${tenant}`, there, never);
        }
        const lookup = `${operation.name} / ${slot.name}`;
        for (const own of ownIds(this.world, principal, kind, slot.fits).slice(0, 4)) {
          if (this.lookedUp.has(lookup)) break;
          if ((await ask(own)).same !== never.same) this.lookedUp.add(lookup);
        }
      }
    }
  }

  // Where all ids of a call are of one other tenant, and so fit together.
  private async walkTogether(principal: Principal, operation: Operation, slots: readonly Slot[]): Promise<void> {
    const base = this.fill(principal, operation, 0, false);
    const asked = slots.filter(({ name }) => base.ids.has(name));
    for (const tenant of ['B', 'X']) {
      const ids = new Map(base.ids);
      for (const { name, kinds, fits } of asked) {
        const kind = kinds[0] as IdKind;
        const id = foreignIds(this.world, principal, kind, fits).get(tenant);
        if (id) ids.set(name, { kind, id });
      }
      const sent = asked.map(({ name }) => ids.get(name)?.id as string);
      if (asked.length < 2 || asked.some(({ name }) => ids.get(name) === base.ids.get(name))) continue;
      const never = new Map(
        [...ids].map(([name, { kind, id }]) => [name, { kind, id: sent.includes(id) ? neverId : id }]),
      );
      const there = await this.ask(principal, operation, { ...base, ids }, ...sent);
      const nowhere = await this.ask(principal, operation, { ...base, ids: never }, neverId);
      if (there.same !== nowhere.same) this.differ(principal, operation, `everything of ${tenant}`, there, nowhere);
    }
  }

  private async walkText(principal: Principal, operation: Operation, name: string): Promise<void> {
    const foreign = foreignTexts(this.world, principal, name.split('.').at(-1) as string);
    if (!foreign) return;
    for (const base of this.bases(principal, operation).slice(0, 2)) {
      const ask = (text: string) => this.ask(principal, operation, { ...base, texts: new Map([[name, text]]) }, text);
      const example = [...foreign.values()][0] ?? '';
      const never = await ask(example.replace(/^canary-[a-z]-[a-z-]+\d+/, 'canary-z-never-0'));
      for (const [tenant, text] of foreign) {
        const there = await ask(text);
        if (there.same !== never.same) this.differ(principal, operation, `${name} of ${tenant}`, there, never);
      }
    }
  }

  // What stands around a thing under test: every kind of input, with and without what may be left out.
  private bases(principal: Principal, operation: Operation, slot?: Slot): Fill[] {
    const bases: Fill[] = [];
    for (let variant = 0; variant < operation.variants; variant++) {
      bases.push(this.fill(principal, operation, variant, false));
      const others = operation.slots.filter((each) => each !== slot && !each.isRequired);
      if (others.length > 0) bases.push(this.fill(principal, operation, variant, true));
    }
    return bases;
  }

  private async ask(
    principal: Principal,
    operation: Operation,
    fill: Fill,
    ...sent: string[]
  ): Promise<{ answer: Answer; same: string }> {
    const answer = await this.check(principal, operation.name, operation.call(fill));
    if (operation.isWrite && operation.isSuccess(answer)) await this.settle(principal, operation.name, true);
    return { answer, same: comparable(answer, sent) };
  }

  private differ(
    principal: Principal,
    operation: Operation,
    what: string,
    there: { answer: Answer },
    never: { answer: Answer },
  ): void {
    this.problems.push(
      `${operation.name} as ${principal.name} tells ${what} from what never existed: ${cut(there.answer)} instead of ${cut(never.answer)}`,
    );
  }

  /** Own things in every slot that is wanted, that belong together where rows say so. */
  fill(principal: Principal, operation: Operation, variant: number, isFull: boolean): Fill {
    const ids = new Map<string, { kind: IdKind; id: string }>();
    const columns: Partial<Record<IdKind, string>> = {
      organization: 'organization_id',
      user: 'user_id',
      serviceUser: 'service_user_id',
    };
    const rank = (slot: Slot) => ['organization', 'user', 'serviceUser'].indexOf(slot.kinds[0] as string) + 1 || 9;
    for (const slot of operation.slots.toSorted((one, other) => rank(one) - rank(other))) {
      if (!slot.isRequired && !isFull) continue;
      const kind = slot.kinds[variant % slot.kinds.length] as IdKind;
      const own = ownIds(this.world, principal, kind, slot.fits);
      const parents = [...ids.values()].filter((picked) => columns[picked.kind]);
      const fitting = own.filter((id) =>
        parents.every((picked) => rowOf(this.world, kind, id)?.[columns[picked.kind] as string] === picked.id),
      );
      const among = fitting.length > 0 ? fitting : own;
      const id = among[kind === 'organization' ? 0 : variant % Math.max(among.length, 1)];
      if (id !== undefined) ids.set(slot.name, { kind, id });
      else if (slot.isRequired) ids.set(slot.name, { kind, id: neverId });
    }
    return { ids, texts: new Map(), variant, isFull };
  }

  /** What changed must be the principal's to change; then everything is put back. `isDone`: something may have changed. */
  async settle(principal: Principal, name: string, isDone: boolean): Promise<void> {
    this.settled += 1;
    const { test, places, rows: wanted } = this.world;
    const tables = [...wanted.keys()];
    const stamps = await readStamps(test, tables);
    const touched = tables.filter((table) => stamps.get(table) !== this.stamps.get(table));
    if (touched.length === 0) return;
    const present = new Map([...wanted, ...(await readRows(test, touched))]);
    const changed = touched.filter((table) => this.textOf(table) !== JSON.stringify(present.get(table)));
    const mayChange = isDone ? principal.mayChange : [];
    const tenantNow = attribute(present, places);
    for (const table of changed) {
      const before = untouched(wanted, table, this.world.tenantOf, mayChange);
      if (before === untouched(present, table, tenantNow, mayChange)) continue;
      const said = isDone ? 'changes rows that are not its tenant’s' : 'was refused and changed rows all the same';
      this.problems.push(`${name} as ${principal.name} ${said}, in "${table}".`);
    }
    if (changed.length > 0) await restoreRows(test, wanted, changed);
    for (const [table, stamp] of await readStamps(test, touched)) this.stamps.set(table, stamp);
  }

  private textOf(table: string): string {
    const known = this.texts.get(table);
    if (known !== undefined) return known;
    const text = JSON.stringify(this.world.rows.get(table));
    this.texts.set(table, text);
    return text;
  }

  /** One line of what was walked. */
  summary(what: string): string {
    return `${what}: ${this.cases.size} cases (operation × principal), ${this.requests} requests, ${this.settled} times put back, ${this.problems.length} leaks`;
  }
}

function with_(ids: Fill['ids'], slot: Slot, kind: IdKind, id: string): Fill['ids'] {
  return new Map([...ids, [slot.name, { kind, id }]]);
}

function untouched(rows: Rows, table: string, tenantOf: World['tenantOf'], mayChange: readonly TenantName[]): string {
  return JSON.stringify((rows.get(table) ?? []).filter((row) => !mayChange.includes(tenantOf(table, row))));
}

/** An answer without what was sent, and without ids, tokens and times of its own. */
export function comparable(answer: Answer, sent: readonly string[]): string {
  let text = `${answer.status} ${answer.text}`;
  for (const each of sent) text = text.replaceAll(each, '«sent»').replaceAll(encodeURIComponent(each), '«sent»');
  text = text.replace(/[A-Za-z0-9+/_-]{24,}={0,2}/g, (word) => {
    const decoded = Buffer.from(word, 'base64').toString('latin1');
    return sent.some((each) => decoded.includes(each))
      ? '«sent»'
      : /^[A-Za-z]{2,40}[:|.]/.test(decoded)
        ? '«opaque»'
        : word;
  });
  return text
    .replace(/(?:apk_user_|apk_|cog_)[a-z0-9]{4}[a-z0-9…]*/g, '«token»')
    .replace(/[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, '«id»')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '«time»')
    .replace(/\b\d{10,13}\b/g, '«time»');
}
