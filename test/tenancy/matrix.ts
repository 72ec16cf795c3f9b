import type { IdKind } from '../../src/domain/ids.ts';
import type { Answer, Fill, HttpCall, Operation, Slot } from './operation.ts';
import type { Principal } from './principals.ts';
import { attribute, type Row, type Rows, readRows, restoreRows, type TenantName, tellingStrings } from './rows.ts';
import { comparable, send } from './send.ts';
import { foreignIds, foreignTexts, neverId, ownIds, rowOf } from './slots.ts';
import type { World } from './world.ts';

/** After this many of the strongest principals failed in every shape, the others try only the simplest one. */
const patience = 2;

/** A shape of an operation's inputs. */
interface Shape {
  readonly variant: number;
  readonly isFull: boolean;
  /** The one optional slot that is filled. */
  readonly only?: string;
}

const nameIn = (row: Row | undefined) => String(row?.name ?? 'canary-z-never-0');

const cut = (answer: Answer) => `${answer.status} ${answer.text.slice(0, 400)}`;

/** Runs operations as principals and collects the results. */
export class Matrix {
  readonly world: World;
  /** Sentences; empty: nothing leaked. */
  readonly problems: string[] = [];
  /** Pairs of an operation and a principal. */
  readonly cases = new Set<string>();
  /** Operations that succeeded for some principal with its own objects. */
  readonly succeeded = new Set<string>();
  /** `operation / slot` where an own id gave another result than an unknown id. */
  readonly lookedUp = new Set<string>();
  /** The principals that succeeded with each write. */
  readonly writes = new Map<string, Set<string>>();
  /** The first successful shape of each operation. */
  private readonly won = new Map<string, Shape>();
  /** The number of principals that tried every shape of an operation without success. */
  private readonly failures = new Map<string, number>();
  /** `operation / rights` that some principal has tried with every shape. */
  private readonly tried = new Set<string>();
  /** True while an operation runs whose shapes a principal with the same rights has tried. */
  private isRepeated = false;
  requests = 0;
  private settled = 0;
  /** The expected rows of each table as one text. */
  private readonly texts = new Map<string, string>();

  constructor(world: World) {
    this.world = world;
  }

  /** Sends a request and searches the response for hidden data. */
  async check(principal: Principal, name: string, call: HttpCall): Promise<Answer> {
    this.cases.add(`${name} / ${principal.name}`);
    this.requests += 1;
    const answer = await send(this.world, principal.token, call);
    this.inspect(principal, name, call, `${answer.headers}\n${answer.text}`, cut(answer));
    if (answer.status >= 500 || answer.text.includes('INTERNAL_SERVER_ERROR'))
      this.problems.push(`${name} as ${principal.name} fails: ${cut(answer)} to ${JSON.stringify(call).slice(0, 600)}`);
    return answer;
  }

  /** Records a problem for every hidden string in the response that was not in the request. */
  inspect(principal: Principal, name: string, call: unknown, received: string, shown = received.slice(0, 400)): void {
    const found = [...tellingStrings(received)].filter((each) => principal.hidden.has(each));
    if (found.length === 0) return;
    const sent = JSON.stringify(call);
    const own = tellingStrings(sent);
    const leaked = found.filter((each) => !own.has(each));
    if (leaked.length > 0)
      this.problems.push(`${name} as ${principal.name} leaks ${leaked.join(', ')}: ${shown} to ${sent.slice(0, 600)}`);
  }

  /** Runs one operation as one principal: with its own objects, then with those of others, one at a time. */
  async run(principal: Principal, operation: Operation): Promise<void> {
    const own = await this.runOwn(principal, operation);
    if (own.status === 401) return;
    const rights = `${operation.name} / ${principal.rights}`;
    this.isRepeated = this.tried.has(rights);
    this.tried.add(rights);
    const open = operation.slots.filter((slot) => !slot.isAncestor);
    for (const slot of open.filter((each) => !each.isOfMany)) {
      await this.runSlot(principal, operation, slot, this.bases(principal, operation, own.isDone, slot));
    }
    if (open.length > 1) await this.runTogether(principal, operation, open);
    for (const name of operation.texts) {
      await this.runText(
        principal,
        operation,
        name,
        this.bases(principal, operation, own.isDone).slice(0, this.isRepeated ? 1 : 2),
      );
    }
  }

  // Tries shapes with own objects only until one succeeds. A write is undone and not tried further; a read is repeated
  // with all optional inputs.
  private async runOwn(principal: Principal, operation: Operation): Promise<{ status: number; isDone: boolean }> {
    let status = 0;
    for (const shape of this.shapes(operation)) {
      const answer = await this.askOwn(principal, operation, shape);
      status = answer.status;
      if (status === 401) break;
      if (!operation.isSuccess(answer)) continue;
      if (!this.won.has(operation.name)) this.won.set(operation.name, shape);
      this.succeeded.add(operation.name);
      if (operation.isWrite) {
        this.writes.set(operation.name, (this.writes.get(operation.name) ?? new Set()).add(principal.name));
        await this.settle(principal, operation.name, true);
      } else if (operation.hasOptional && !shape.isFull) {
        await this.askOwn(principal, operation, { ...shape, isFull: true });
      }
      return { status, isDone: true };
    }
    this.failures.set(operation.name, (this.failures.get(operation.name) ?? 0) + 1);
    return { status, isDone: false };
  }

  private async askOwn(principal: Principal, operation: Operation, shape: Shape): Promise<Answer> {
    const call = operation.call(this.fill(principal, operation, shape.variant, shape.isFull, shape.only));
    const answer = await this.check(principal, operation.name, call);
    operation.onOwnAnswer?.(answer);
    return answer;
  }

  // Shapes that succeeded for another principal come first; if one works, the rest is skipped.
  private shapes(operation: Operation): Shape[] {
    const minimal = (count: number) => Array.from({ length: count }, (_, variant) => ({ variant, isFull: false }));
    const won = this.won.get(operation.name);
    if (won) return [won, ...minimal(operation.variants)];
    if ((this.failures.get(operation.name) ?? 0) >= patience) return minimal(operation.variants);
    const shapes = minimal(Math.max(operation.variants, 6));
    const optional = operation.slots.filter((slot) => !slot.isRequired);
    return [
      ...shapes,
      ...optional.flatMap(({ name }) => shapes.map((shape) => ({ ...shape, only: name }))),
      ...shapes.map((shape) => ({ ...shape, isFull: true })),
    ];
  }

  private async runSlot(principal: Principal, operation: Operation, slot: Slot, bases: readonly Fill[]): Promise<void> {
    for (const kind of slot.kinds) {
      const foreign = [...foreignIds(this.world, principal, kind, slot.fits)];
      for (const [n, base] of bases.entries()) {
        const ask = (id: string) =>
          this.ask(principal, operation, { ...base, ids: with_(base.ids, slot, kind, id) }, id);
        const never = await ask(neverId);
        for (const [tenant, id] of foreign) {
          // For required ids all tenants; otherwise one organization of the same enterprise and one of another.
          if ((n > 0 || !slot.isRequired) && tenant !== 'B' && tenant !== 'X') continue;
          const there = await ask(id);
          if (there.same !== never.same) this.differ(principal, operation, `${slot.name} of ${tenant}`, there, never);
        }
        const lookup = `${operation.name} / ${slot.name}`;
        const candidates = ownIds(this.world, principal, kind, slot);
        // The last ones belong to everybody, such as built-in roles.
        for (const own of [...candidates.slice(0, 4), ...candidates.slice(4).slice(-4)]) {
          if (this.lookedUp.has(lookup)) break;
          if ((await ask(own)).same !== never.same) this.lookedUp.add(lookup);
        }
      }
    }
  }

  // The case in which all ids of a call belong to one other tenant, and so fit together.
  private async runTogether(principal: Principal, operation: Operation, slots: readonly Slot[]): Promise<void> {
    const base = this.fill(principal, operation, 0, false);
    const filledSlots = slots.filter(({ name }) => base.ids.has(name));
    for (const tenant of ['B', 'X']) {
      const ids = new Map(base.ids);
      for (const { name, kinds, fits } of filledSlots) {
        const kind = kinds[0] as IdKind;
        const id = foreignIds(this.world, principal, kind, fits).get(tenant);
        if (id) ids.set(name, { kind, id });
      }
      const sent = filledSlots.map(({ name }) => ids.get(name)?.id as string);
      if (filledSlots.length < 2 || filledSlots.some(({ name }) => ids.get(name) === base.ids.get(name))) continue;
      const never = new Map(
        [...ids].map(([name, { kind, id }]) => [name, { kind, id: sent.includes(id) ? neverId : id }]),
      );
      const there = await this.ask(principal, operation, { ...base, ids }, ...sent);
      const nowhere = await this.ask(principal, operation, { ...base, ids: never }, neverId);
      if (there.same !== nowhere.same) this.differ(principal, operation, `everything of ${tenant}`, there, nowhere);
    }
  }

  private async runText(
    principal: Principal,
    operation: Operation,
    name: string,
    bases: readonly Fill[],
  ): Promise<void> {
    const foreign = foreignTexts(this.world, principal, name.split('.').at(-1) as string);
    if (!foreign) return;
    for (const base of bases) {
      const ask = (text: string) => this.ask(principal, operation, { ...base, texts: new Map([[name, text]]) }, text);
      const example = [...foreign.values()][0] ?? '';
      const never = await ask(example.replace(/^canary-[a-z]-[a-z-]+\d+/, 'canary-z-never-0'));
      for (const [tenant, text] of foreign) {
        const there = await ask(text);
        if (there.same !== never.same) this.differ(principal, operation, `${name} of ${tenant}`, there, never);
      }
    }
  }

  // The shapes around an id under test: every kind of input, with and without optional ones; the simplest for a principal
  // without permission, and for one whose rights another one has.
  private bases(principal: Principal, operation: Operation, isAble: boolean, slot?: Slot): Fill[] {
    const bases: Fill[] = [];
    if (!isAble) bases.push(this.fill(principal, operation, 0, false));
    const variants = this.isRepeated ? Math.min(operation.variants, 1) : operation.variants;
    const isWide = operation.isWrite && !this.isRepeated;
    for (let variant = 0; isAble && variant < variants; variant++) {
      bases.push(this.fill(principal, operation, variant, false));
      const others = operation.slots.filter((each) => each !== slot && !each.isRequired);
      if (isWide && others.length > 0) bases.push(this.fill(principal, operation, variant, true));
    }
    // A principal without a bound organization finds nothing unless one is named.
    const organizationSlot = operation.slots.find(
      (each) => each !== slot && !each.isRequired && each.kinds.includes('organization'),
    );
    for (let variant = 0; isAble && isWide && organizationSlot && variant < variants; variant++)
      bases.push(this.fill(principal, operation, variant, false, organizationSlot.name));
    const won = this.won.get(operation.name);
    // If one of several inputs is required, nothing is looked up without it.
    if (won?.only !== undefined && won.only !== slot?.name)
      bases.push(this.fill(principal, operation, won.variant, won.isFull, won.only));
    return bases;
  }

  private async ask(
    principal: Principal,
    operation: Operation,
    fill: Fill,
    ...sent: string[]
  ): Promise<{ answer: Answer; same: string }> {
    const call = operation.call(fill);
    const answer = await this.check(principal, operation.name, call);
    if (operation.isWrite && operation.isSuccess(answer)) await this.settle(principal, operation.name, true);
    const names = [...fill.ids.values()].map(({ kind, id }) => nameIn(rowOf(this.world, kind, id)));
    return { answer, same: comparable(answer, [...sent, ...names.filter((name) => call.path.includes(name))]) };
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

  /** Fills every wanted slot with an own object; the objects belong together where rows say so. */
  fill(principal: Principal, operation: Operation, variant: number, isFull: boolean, only?: string): Fill {
    const ids = new Map<string, { kind: IdKind; id: string }>();
    const columns: Partial<Record<IdKind, string>> = {
      organization: 'organization_id',
      user: 'user_id',
      serviceUser: 'service_user_id',
    };
    const rank = (slot: Slot) => ['organization', 'user', 'serviceUser'].indexOf(slot.kinds[0] as string) + 1 || 9;
    const isIn = ({ choices = [] }: Slot) => choices.every((choice) => choice.isIn(variant));
    for (const slot of operation.slots.toSorted((one, other) => rank(one) - rank(other))) {
      if (slot.name !== only && !((slot.isRequired || isFull) && isIn(slot))) continue;
      const kind = slot.kinds[variant % slot.kinds.length] as IdKind;
      const own = ownIds(this.world, principal, kind, slot);
      const parents = [...ids.values()].filter((picked) => columns[picked.kind]);
      const fitting = own.filter((id) =>
        parents.every((picked) => rowOf(this.world, kind, id)?.[columns[picked.kind] as string] === picked.id),
      );
      const among = fitting.length > 0 ? fitting : own;
      const id = among[kind === 'organization' ? 0 : variant % Math.max(among.length, 1)];
      if (id !== undefined) ids.set(slot.name, { kind, id });
      else if (slot.isRequired) ids.set(slot.name, { kind, id: neverId });
    }
    const nameOf = (kind: IdKind, id: string) => nameIn(rowOf(this.world, kind, id));
    return { ids, texts: new Map(), nameOf, variant, isFull };
  }

  /**
   * Checks that the principal was allowed to make every change, then restores the tables. `isDone`: something may have
   * changed.
   */
  async settle(principal: Principal, name: string, isDone: boolean): Promise<void> {
    this.settled += 1;
    const { test, tenantIds, rows: wanted, written } = this.world;
    const touched = await written.take();
    if (touched.length === 0) return;
    const present = new Map([...wanted, ...(await readRows(test, touched))]);
    const changed = touched.filter((table) => this.textOf(table) !== JSON.stringify(present.get(table)));
    const mayChange = isDone ? principal.mayChange : [];
    const tenantNow = attribute(present, tenantIds);
    for (const table of changed) {
      const before = untouched(wanted, table, this.world.tenantOf, mayChange);
      if (before === untouched(present, table, tenantNow, mayChange)) continue;
      const problem = isDone ? 'changes rows that are not its tenant’s' : 'was refused and changed rows all the same';
      this.problems.push(`${name} as ${principal.name} ${problem}, in "${table}".`);
    }
    if (changed.length > 0) await restoreRows(test, wanted, changed);
  }

  private textOf(table: string): string {
    const cached = this.texts.get(table);
    if (cached !== undefined) return cached;
    const text = JSON.stringify(this.world.rows.get(table));
    this.texts.set(table, text);
    return text;
  }

  /** A summary line of the run. */
  summary(what: string): string {
    return `${what}: ${this.cases.size} cases (operation × principal), ${this.requests} requests, ${this.settled} times put back, ${this.problems.length} leaks`;
  }
}

function with_(ids: Fill['ids'], slot: Slot, kind: IdKind, id: string): Fill['ids'] {
  // The other members of an input with exactly one member are removed.
  const others = (slot.choices ?? []).map(
    ({ of, member }) =>
      (name: string) =>
        name.startsWith(`${of}.`) && name !== `${of}.${member}` && !name.startsWith(`${of}.${member}.`),
  );
  const rest = [...ids].filter(([name]) => !others.some((isOther) => isOther(name)));
  return new Map([...rest, [slot.name, { kind, id }]]);
}

function untouched(rows: Rows, table: string, tenantOf: World['tenantOf'], mayChange: readonly TenantName[]): string {
  return JSON.stringify((rows.get(table) ?? []).filter((row) => !mayChange.includes(tenantOf(table, row))));
}
