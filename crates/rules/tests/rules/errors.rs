//! What is wrong with a text, where, and what would be valid.

use palimpsest_rules::Rule;

/// The message for lines after `rule "x"`, without the slug.
fn message(lines: &str) -> String {
    whole(&format!("rule \"x\"\n{lines}"))
}

fn whole(text: &str) -> String {
    let error = Rule::parse("x", text).map(|rule| format!("{:?} was accepted", rule.source())).unwrap_err();
    let message = error.to_string();
    assert_eq!(message, format!("x.rule:{}:{}: found {}, expected {}", error.line, error.column, error.found, error.expected));
    assert!(!message.contains('\n'));
    message.trim_start_matches("x.rule:").to_owned()
}

#[test]
fn characters() {
    let table = [
        ("step key k / 2", "2:12: found '/', expected a name, a number, a quoted text, or one of + - * ( ) , ="),
        ("λ = 3", "2:1: found 'λ', expected a name, a number, a quoted text, or one of + - * ( ) , ="),
        ("# λμ\n  step key k, write ν", "3:21: found 'ν', expected a name, a number, a quoted text, or one of + - * ( ) , ="),
        ("about \"open", "2:7: found '\"', expected a closing quote on the same line"),
    ];
    table.iter().for_each(|(text, expected)| assert_eq!(message(text), *expected));
}

#[test]
fn statements() {
    let table = [
        ("3 = k", "2:1: found the number 3, expected a definition, 'step', or a heading (rule, cites, about, order, default)"),
        ("x k", "2:3: found 'k', expected '='"),
        ("x =", "2:4: found the end of the text, expected a number, a name, '-' or '('"),
        ("x = k k", "2:7: found 'k', expected an operator or the end of the line"),
        ("x = k +\nstep key k", "2:8: found the end of the line, expected a number, a name, '-' or '('"),
        ("x = (k + q\nstep key k", "2:11: found the end of the line, expected an operator or ')'"),
        ("x = dot(k, q", "2:13: found the end of the text, expected an operator, a comma or ')'"),
        ("x = k)", "2:6: found ')', expected an operator or the end of the line"),
        ("x = 2 * gate(key)", "2:9: found 'gate', expected an expression: a declaration has a line of its own, as b = gate(key)"),
        ("cites k", "2:7: found 'k', expected a quoted text"),
        ("order \"1\"", "2:7: found a quoted text, expected a number"),
        ("default 3", "2:9: found the number 3, expected the end of the line"),
        ("order 1\norder 2", "3:1: found a second 'order', expected each heading once"),
        ("rule \"y\"", "2:1: found a second 'rule', expected each heading once"),
    ];
    table.iter().for_each(|(text, expected)| assert_eq!(message(text), *expected));
    assert_eq!(whole("step key k, write v"), "1:1: found no name, expected a line: rule \"...\"");
    assert_eq!(whole(""), "1:1: found no step, expected at least one line: step key k, write v");
    assert_eq!(message("lam = 3"), "2:1: found no step, expected at least one line: step key k, write v");
}

#[test]
fn steps() {
    let table = [
        ("step", "2:5: found the end of the text, expected one of decay, key, erase, write"),
        ("step key", "2:9: found the end of the text, expected a number, a name, '-' or '('"),
        ("step key k erase k", "2:12: found 'erase', expected an operator, a comma or the end of the line"),
        ("step key k,", "2:12: found the end of the text, expected one of decay, key, erase, write"),
        ("step key k, read q", "2:13: found 'read', expected one of decay, key, erase, write"),
        ("step write v", "2:1: found a step without 'key', expected the address of the edit: key k"),
        ("step key k, key q", "2:13: found a second 'key', expected each part of a step once"),
        ("step key v", "2:10: found a value vector, expected a key vector after 'key'"),
        ("step key k, erase 2 * 3", "2:19: found a scalar, expected a key vector after 'erase'"),
        ("step key k, write q", "2:19: found a key vector, expected a value vector after 'write'"),
        ("step decay v, key k", "2:12: found a value vector, expected a scalar or a key vector after 'decay'"),
        ("step key k\nstep key k\nstep key k\nstep key k\nstep key k", "6:1: found one step more, expected at most 4 steps"),
    ];
    table.iter().for_each(|(text, expected)| assert_eq!(message(text), *expected));
}

#[test]
fn types_and_names() {
    let table = [
        ("step key k, write c * v", "2:19: found the unknown name 'c', expected one of k, q, v"),
        ("k = 2 * q", "2:1: found 'k' again, expected a new name"),
        ("x = q\nx = k", "3:1: found 'x' again, expected a new name"),
        ("dot = q", "2:1: found 'dot' again, expected a new name"),
        ("x = k + q * v", "2:13: found a value vector, expected a key vector or a scalar, to match the left of '*'"),
        ("x = 2 * k - 3 * v", "2:13: found a value vector, expected a key vector or a scalar, to match the left of '-'"),
        ("x = dot(2, k)", "2:9: found a scalar, expected a vector, for a dot product"),
        ("x = dot(v, k)", "2:12: found a key vector, expected a value vector, for a dot product"),
        ("x = dot(k)", "2:5: found one argument for 'dot', expected 2"),
        ("x = sigmoid(1, 2, 3)", "2:5: found 3 arguments for 'sigmoid', expected 1"),
        ("x = norm(k)", "2:5: found the unknown function 'norm', expected one of dot, exp, sigmoid"),
        ("x = 1e39 * k", "2:5: found a number too large for 32 bits, expected at most 3.4e38"),
        ("x = 3 + 1e30 * 1e30", "2:9: found a number too large for 32 bits, expected at most 3.4e38"),
        ("b = gate(key)\nstep key k, write v", "2:1: found 'b', which no step uses, expected a step that depends on it"),
    ];
    table.iter().for_each(|(text, expected)| assert_eq!(message(text), *expected));
}

#[test]
fn declarations() {
    let table = [
        ("g = decay()", "2:11: found ')', expected a word, as channel, key or bias"),
        ("g = decay(key)", "2:11: found 'key', expected channel or head"),
        ("g = decay(head 3)", "2:11: found 'head 3', expected channel or head"),
        ("g = decay(head, key)", "2:17: found 'key', expected one argument for decay"),
        ("g = decay(head)\nh = decay(channel)", "3:5: found a second decay, expected one decay in a rule"),
        ("b = gate(vector)", "2:10: found 'vector', expected scalar, key or value"),
        ("b = gate(key, bias)", "2:15: found 'bias', expected bias and a number"),
        ("b = gate(key, bias -)", "2:21: found ')', expected a number"),
        ("b = gate(key, bias 1e39)", "2:15: found 'bias 1000000000000000000000000000000000000000', expected a number of at most 3.4e38"),
        ("b = gate(key", "2:13: found the end of the text, expected a comma or ')'"),
        ("e = direction(rank 1.5)", "2:15: found 'rank 1.5', expected rank and a whole number from 1 to 128"),
        ("e = direction(rank -1)", "2:15: found 'rank -1', expected rank and a whole number from 1 to 128"),
        ("z = fixed(value)", "2:11: found 'value', expected key"),
        ("p = parameter(channel)", "2:15: found 'channel', expected head"),
        (
            "p = parameter(head, weight decay)",
            "2:21: found 'weight decay', expected init and a number, rate and a number above 0, or no weight decay",
        ),
        ("p = parameter(head, rate 0)", "2:21: found 'rate 0', expected init and a number, rate and a number above 0, or no weight decay"),
        (
            "a = parameter(head)\nb = parameter(head)\nc = parameter(head)\nd = parameter(head)\ne = fixed(key)\nstep key a*b*c*d*e",
            "6:1: found 'e', one input per head more, expected at most 4 of them",
        ),
    ];
    table.iter().for_each(|(text, expected)| assert_eq!(message(text), *expected));
}

/// Texts made to exhaust the stack or the time of a parser get an error at once.
#[test]
fn hostile_sizes() {
    let deep = format!("x = {}k{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(message(&deep), "2:37: found '(' inside 32 others, expected at most 32 levels");
    let negative = format!("x = {}k", "-".repeat(9000));
    assert_eq!(message(&negative), "2:505: found one operator more, expected at most 500 of them");
    let long = format!("x = k{}", " + k".repeat(2000));
    assert_eq!(message(&long), "2:2007: found one operator more, expected at most 500 of them");
    let calls = format!("x = {}k", "sigmoid(".repeat(1500));
    assert!(message(&calls).ends_with("expected at most 32 levels"));
    let dots = format!("x = 0{}", " + dot(k, q)".repeat(33));
    assert!(message(&dots).ends_with("found one dot product more, expected at most 32"));
    let large = "#".repeat(20_000);
    assert_eq!(whole(&large), "1:1: found a text of 20000 bytes, expected at most 16384 bytes");
    // a chain of definitions that each double what came before stays small, since equal nodes are one
    let mut doubling = "rule \"x\"\nx0 = k\n".to_owned();
    (0..400).for_each(|i| doubling += &format!("x{} = x{i} * x{i}\n", i + 1));
    doubling += "step key x400, write v";
    let rule = Rule::parse("x", &doubling).unwrap();
    assert!(rule.wgsl_map_gradient(4, 4, 4).len() < 200_000);
}
