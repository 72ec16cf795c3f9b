import type { ReactNode } from 'react';
import { sessionList as texts } from '../texts/sessions.ts';
import { writeNumber } from '../ui/number.ts';
import type { Order } from './session-order.ts';
import type { SessionCount } from './use-session-count.ts';

interface ListHeadProps {
  readonly total: SessionCount | null;
  /** The order of the list, and the orders that it can have. */
  readonly order: Order;
  readonly orders: readonly Order[];
  readonly isAll: boolean;
  readonly isSome: boolean;
  /** The name of the box that selects all, or how many are selected. */
  readonly label: string;
  /** Missing if the list has one order only. */
  readonly onSort?: (order: Order) => void;
  readonly onSelectAll: (isSelected: boolean) => void;
  /** Buttons for the selected sessions. */
  readonly children: ReactNode;
}

/** The line above a list of sessions: the box that selects all, the size of the list, and its order. */
export function ListHead(props: ListHeadProps) {
  const { total, order, orders, isAll, isSome, label, onSort, onSelectAll, children } = props;
  return (
    <div className="list-head">
      <label>
        <input
          type="checkbox"
          checked={isAll}
          ref={(box) => {
            if (box) box.indeterminate = isSome && !isAll;
          }}
          onChange={() => onSelectAll(!isAll)}
        />
        <span>{label}</span>
      </label>
      {children}
      <span className="list-order">
        {total && (
          <span className="list-size">
            {texts.size(total.count, total.isExact ? writeNumber(total.count) : writeMin(total.count))}
          </span>
        )}
        <select
          aria-label={texts.sort}
          value={order}
          disabled={orders.length < 2}
          onChange={({ target }) => onSort?.(target.value as Order)}
        >
          {orders.map((value) => (
            <option value={value} key={value}>
              {texts.orders[value]}
            </option>
          ))}
        </select>
      </span>
    </div>
  );
}

/** The service counts one more than it tells. */
const writeMin = (count: number): string => `${writeNumber(Math.min(count, 10_000))}+`;
