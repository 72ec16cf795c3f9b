import type { DocumentNode, GraphQLSchema } from 'graphql';
import { weighDocument } from './document-weight.ts';
import { type DocumentPlan, planDocument } from './plan.ts';

/** Parsed documents by text, in the form of Yoga's cache. */
export interface DocumentCache {
  get(text: string): DocumentNode | undefined;
  set(text: string, document: DocumentNode): void;
}

/** The parsed documents of this process, and the plans of those that have passed the gate. */
export interface Plans {
  /** Parsed documents, including those that have not passed the gate. */
  readonly documents: DocumentCache;
  /** The plan of a valid document: created once, and garbage-collected with it. */
  of(document: DocumentNode): DocumentPlan;
  /** Caches a document that has passed the whole gate. Returns true if it was cached already. */
  remember(document: DocumentNode): boolean;
  /** The plan of a text that has passed the gate before; null if it must pass it first. */
  find(text: string): DocumentPlan | null;
}

/** Options of {@link createPlans}. */
export interface PlanLimits {
  /** The maximum heap of all cached documents, in bytes, estimated by {@link weighDocument}. */
  readonly maxBytes: number;
  /** True if a text is one of the operator's documents, which are never evicted and do not count. */
  readonly isTrusted?: (text: string) => boolean;
}

interface CachedDocument {
  readonly document: DocumentNode;
  readonly bytes: number;
  hasPassed: boolean;
}

/**
 * Creates the {@link Plans}. The least recently used documents are evicted first. A document heavier than the whole
 * cache is not stored.
 */
export function createPlans(schema: GraphQLSchema, { maxBytes, isTrusted = () => false }: PlanLimits): Plans {
  const plans = new WeakMap<DocumentNode, DocumentPlan>();
  /** Least recently used first. */
  const cached = new Map<string, CachedDocument>();
  let bytes = 0;

  const use = (text: string): CachedDocument | undefined => {
    const found = cached.get(text);
    if (!found) return undefined;
    cached.delete(text);
    cached.set(text, found);
    return found;
  };
  const keep = (text: string, document: DocumentNode): CachedDocument | undefined => {
    const existing = use(text);
    if (existing) return existing;
    const made = { document, bytes: isTrusted(text) ? 0 : weighDocument(document), hasPassed: false };
    if (made.bytes > maxBytes) return undefined;
    cached.set(text, made);
    bytes += made.bytes;
    for (const [each, { bytes: weight }] of cached) {
      if (bytes <= maxBytes) break;
      if (weight === 0) continue;
      cached.delete(each);
      bytes -= weight;
    }
    return made;
  };
  const of = (document: DocumentNode): DocumentPlan => {
    const existing = plans.get(document);
    if (existing) return existing;
    const made = planDocument(schema, document);
    plans.set(document, made);
    return made;
  };
  return {
    documents: {
      get: (text) => use(text)?.document,
      set: (text, document) => void keep(text, document),
    },
    of,
    remember(document) {
      const text = document.loc?.source.body;
      const entry = text === undefined ? undefined : keep(text, document);
      if (!entry) return false;
      const wasThere = entry.hasPassed;
      entry.hasPassed = true;
      return wasThere;
    },
    find(text) {
      const found = cached.get(text);
      return found?.hasPassed && use(text) ? of(found.document) : null;
    },
  };
}
