/** A condition on resources of one kind, which a store can put into its query. */
export type ListFilter =
  | {
      /** Every resource within the reach of the caller. */
      readonly kind: 'all';
    }
  | {
      /** No resource. */
      readonly kind: 'none';
    }
  | {
      /** The resources that meet a condition. */
      readonly kind: 'where';
      /** The condition. */
      readonly condition: FilterCondition;
    };

/** A value of a field. */
export type FilterValue = string | number | boolean;

/** A condition on the fields of a resource. */
export type FilterCondition =
  | {
      /** `id`, `workspace`, or the name of an attribute. */
      readonly field: string;
      /** The values, one of which the field has. A field that is absent has none. */
      readonly in: readonly FilterValue[];
    }
  | {
      /** Conditions that all hold. An empty list holds. */
      readonly all: readonly FilterCondition[];
    }
  | {
      /** Conditions one of which holds. An empty list does not hold. */
      readonly any: readonly FilterCondition[];
    }
  | {
      /** A condition that does not hold. */
      readonly not: FilterCondition;
    };
