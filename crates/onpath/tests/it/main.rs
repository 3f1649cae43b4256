//! Integration tests in one binary, a module for each subject. Separate are those with a harness of their own, and
//! `pdm_truth`, which measures times on real traffic.

mod architecture;
mod captures;
mod circles;
mod diagnostics;
mod documents;
mod evasion;
mod explained;
mod firewall;
mod firewall_floods;
mod firewall_names;
mod flow_state;
mod fuzz;
mod json_errors;
mod killed;
mod libraries;
mod messages;
mod metrics;
mod name_sets;
mod offloads;
mod pair;
mod parser_reach;
mod passes;
mod paths;
mod pattern_sets;
mod payload_large;
mod payload_limits;
mod pdm;
mod pdm_rules;
mod pdm_tshark;
mod readers;
mod real_traffic;
mod reference;
mod tc_traffic;
mod verified;
mod writers;
