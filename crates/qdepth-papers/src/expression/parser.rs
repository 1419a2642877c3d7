//! Recursive-descent parser. A minus after a name needs a blank before it, because names may
//! contain one.

use super::error::ParseError;
use super::lexer::{Word, words};
use super::tree::{Arithmetic, Function, Node, Quantity, Relator, Test};

/// Deepest nesting of parentheses: enough for a person, and safe for the stack.
const DEPTH_MAX: usize = 32;
/// Maximum number of queue depths in one list.
const INTENSITIES_MAX: usize = 32;

pub(super) fn figure(text: &str) -> Result<Node, ParseError> {
    Parser::whole(text, Parser::sum)
}

pub(super) fn condition(text: &str) -> Result<Test, ParseError> {
    Parser::whole(text, Parser::test)
}

struct Parser<'t> {
    words: Vec<(Word<'t>, usize)>,
    next: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn whole<T>(
        text: &'t str,
        parse: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let mut parser = Self { words: words(text)?, next: 0, depth: 0 };
        let parsed = parse(&mut parser)?;
        if *parser.peek() == Word::End { Ok(parsed) } else { parser.expected("the end") }
    }

    fn peek(&self) -> &Word<'t> {
        &self.words[self.next.min(self.words.len() - 1)].0
    }

    fn column(&self) -> usize {
        self.words[self.next.min(self.words.len() - 1)].1
    }

    fn expected<T>(&self, expected: &'static str) -> Result<T, ParseError> {
        let found = match self.peek() {
            Word::Name(name) => format!("`{name}`"),
            Word::Number(number) => format!("`{number}`"),
            Word::Sign(sign) => format!("`{sign}`"),
            Word::End => "the end".to_owned(),
        };
        Err(ParseError::Expected { column: self.column(), found, expected })
    }

    /// Consumes the sign if it is the next token.
    fn take(&mut self, sign: &str) -> bool {
        let there = matches!(self.peek(), Word::Sign(s) if *s == sign);
        self.next += usize::from(there);
        there
    }

    fn take_name(&mut self, name: &str) -> bool {
        let there = matches!(self.peek(), Word::Name(n) if *n == name);
        self.next += usize::from(there);
        there
    }

    fn sign(&mut self, sign: &str, expected: &'static str) -> Result<(), ParseError> {
        if self.take(sign) { Ok(()) } else { self.expected(expected) }
    }

    fn name(&mut self, expected: &'static str) -> Result<&'t str, ParseError> {
        let Word::Name(name) = *self.peek() else { return self.expected(expected) };
        self.next += 1;
        Ok(name)
    }

    /// Parses one level deeper; an error beyond [`DEPTH_MAX`].
    fn within<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth == DEPTH_MAX {
            return Err(ParseError::Depth { column: self.column() });
        }
        self.depth += 1;
        let answer = parse(self);
        self.depth -= 1;
        answer
    }

    fn test(&mut self) -> Result<Test, ParseError> {
        let first = self.one_test()?;
        let mut all = vec![first];
        while self.take_name("and") {
            all.push(self.one_test()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Test::All(all) })
    }

    fn one_test(&mut self) -> Result<Test, ParseError> {
        if self.take_name("rises") {
            self.sign("(", "`(`")?;
            let node = self.within(Self::sum)?;
            self.sign(")", "`)`")?;
            return Ok(Test::Rises(node));
        }
        let mut sides = vec![self.sum()?];
        let mut relators = Vec::new();
        while let Some(relator) = self.relator() {
            relators.push(relator);
            sides.push(self.sum()?);
        }
        if relators.is_empty() {
            return self.expected("a comparison (< <= > >= =)");
        }
        let mut within = 0.0;
        if relators.contains(&Relator::Equal) {
            if !self.take_name("within") {
                return self.expected("`within` and a share, which equality needs");
            }
            let Word::Number(share) = *self.peek() else { return self.expected("a share as 5%") };
            self.next += 1;
            within = share;
        }
        Ok(Test::Chain { sides, relators, within })
    }

    fn relator(&mut self) -> Option<Relator> {
        use Relator::{Equal, Less, LessOrEqual, More, MoreOrEqual};
        let all = [LessOrEqual, MoreOrEqual, Less, More, Equal];
        all.into_iter().find(|relator| self.take(relator.symbol()))
    }

    fn sum(&mut self) -> Result<Node, ParseError> {
        self.chain(&[("+", Arithmetic::Plus), ("-", Arithmetic::Minus)], Self::product)
    }

    fn product(&mut self) -> Result<Node, ParseError> {
        self.chain(&[("*", Arithmetic::Times), ("/", Arithmetic::Over)], Self::atom)
    }

    fn chain(
        &mut self,
        operators: &[(&str, Arithmetic)],
        part: fn(&mut Self) -> Result<Node, ParseError>,
    ) -> Result<Node, ParseError> {
        let mut node = part(self)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.take(sign)) {
            let right = Box::new(part(self)?);
            node = Node::Binary { operator: *operator, left: Box::new(node), right };
        }
        Ok(node)
    }

    fn atom(&mut self) -> Result<Node, ParseError> {
        if let Word::Number(number) = *self.peek() {
            self.next += 1;
            return Ok(Node::Number(number));
        }
        if self.take("(") {
            let node = self.within(Self::sum)?;
            self.sign(")", "`)`")?;
            return Ok(node);
        }
        let before = self.next;
        let name = self.name("a number, a point or a function")?;
        let quantity = Quantity::ALL.into_iter().find(|quantity| quantity.name() == name);
        let function = match name {
            "max" => Some(Function::Max),
            "min" => Some(Function::Min),
            "mean" => Some(Function::Mean),
            "spread" => Some(Function::Spread),
            _ => None,
        };
        if quantity.is_none() && function.is_none() && name != "share" {
            self.next = before;
            return self.expected(
                "rate, throughput, throughput_gb, latency, max, min, mean, spread or share",
            );
        }
        self.sign("(", "`(`")?;
        let node = self.within(|parser| match (quantity, function) {
            (Some(quantity), _) => parser.points(quantity),
            (_, Some(function)) => {
                Ok(Node::Call { function, arguments: parser.listed(Self::sum)? })
            }
            _ => Ok(Node::Share(Box::new(parser.test()?))),
        })?;
        self.sign(")", "`)`")?;
        Ok(node)
    }

    fn listed<T>(
        &mut self,
        part: fn(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut list = vec![part(self)?];
        while self.take(",") {
            list.push(part(self)?);
        }
        Ok(list)
    }

    fn points(&mut self, quantity: Quantity) -> Result<Node, ParseError> {
        let target = self.name("the name of a target")?.to_owned();
        self.sign(",", "`,`")?;
        let load = self.name("the name of a load")?.to_owned();
        self.sign(",", "`,`")?;
        Ok(Node::Points { quantity, target, load, intensities: self.intensities()? })
    }

    fn intensities(&mut self) -> Result<Vec<u32>, ParseError> {
        let column = self.column();
        let bad = Err(ParseError::Intensities { column });
        if self.take("{") {
            let list = self.listed(Self::intensity)?;
            self.sign("}", "`}`")?;
            let ascends = list.windows(2).all(|pair| pair[0] < pair[1]);
            return if ascends && list.len() <= INTENSITIES_MAX { Ok(list) } else { bad };
        }
        let first = self.intensity()?;
        if !self.take("..") {
            return Ok(vec![first]);
        }
        let last = self.intensity()?;
        if !first.is_power_of_two() || !last.is_power_of_two() || first > last {
            return bad;
        }
        Ok((first.ilog2()..=last.ilog2()).map(|exponent| 1 << exponent).collect())
    }

    fn intensity(&mut self) -> Result<u32, ParseError> {
        let column = self.column();
        let Word::Number(number) = *self.peek() else { return self.expected("an intensity") };
        self.next += 1;
        let whole = number as u32;
        if whole < 1 || (f64::from(whole) - number).abs() > 0.0 {
            return Err(ParseError::Intensities { column });
        }
        Ok(whole)
    }
}
