import type { DocumentNode, GraphQLSchema } from 'graphql';
import { type DocumentPlan, planDocument } from './plan.ts';

/** How many documents are remembered by their texts: as many as a few clients have. */
const mostTexts = 1_000;
/** How many letters their texts may have in all: anybody may send new ones, and long ones. */
const mostLetters = 4_000_000;

/** The plans of documents that have passed the gate. */
export interface Plans {
  /** The plan of a valid document: made once for each, and gone with it. */
  of(document: DocumentNode): DocumentPlan;
  /** Remembers a document that has passed the whole gate, by its text. True when it was there already. */
  remember(document: DocumentNode): boolean;
  /** The plan of a text that has passed the gate before; null: it is to go through it. */
  find(text: string): DocumentPlan | null;
}

/** See {@link Plans}. What has not been asked for the longest is forgotten first. */
export function createPlans(schema: GraphQLSchema, most = { texts: mostTexts, letters: mostLetters }): Plans {
  const plans = new WeakMap<DocumentNode, DocumentPlan>();
  const byText = new Map<string, DocumentPlan>();
  let letters = 0;

  const of = (document: DocumentNode): DocumentPlan => {
    const known = plans.get(document);
    if (known) return known;
    const made = planDocument(schema, document);
    plans.set(document, made);
    return made;
  };
  return {
    of,
    remember(document) {
      const text = document.loc?.source.body;
      if (text === undefined || text.length > most.letters) return false;
      if (byText.has(text)) return true;
      byText.set(text, of(document));
      letters += text.length;
      for (const oldest of byText.keys()) {
        if (byText.size <= most.texts && letters <= most.letters) break;
        byText.delete(oldest);
        letters -= oldest.length;
      }
      return false;
    },
    find(text) {
      const found = byText.get(text);
      if (!found) return null;
      // Behind all others again.
      byText.delete(text);
      byText.set(text, found);
      return found;
    },
  };
}
