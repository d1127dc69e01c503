-- The person whose message made the page be fetched. NULL: a process of the previous release fetched it.
ALTER TABLE messaging.link_preview ADD caused_by int;
