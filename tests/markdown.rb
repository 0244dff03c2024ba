# SPDX-License-Identifier: MIT
# tests/markdown.rb - the style that mdl (markdownlint) asks for: all its rules, but:
all
rule 'MD007', :indent => 2
rule 'MD010', :ignore_code_blocks => true # C has tabs
rule 'MD026', :punctuation => '.,;:!' # a heading may be a question
rule 'MD029', :style => 'ordered'
exclude_rule 'MD033' # <details> folds an answer
exclude_rule 'MD013' # whoever shows a page wraps its lines
exclude_rule 'MD014' # "$ make" alone is a command whose output differs
exclude_rule 'MD036' # a bold line may stand over a list that needs no anchor
exclude_rule 'MD046' # diagrams are indented, transcripts are fenced
