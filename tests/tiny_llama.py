"""A llama.cpp model of a few kilobytes, made here: random weights, and a vocabulary with what real ones have in the way of traps."""
import numpy

WORDS = ["the", "a", "name", "age", "yes", "no", "not", "red", "green", "blue", "Ann", "Bob", "true", "false", "null", "1", "12", "30", "ing", "ed"]
PIECES = ["▁" + word for word in WORDS] + WORDS + ['{"', '":', '",', '"}', '"', "{", "}", "[", "]", ":", ",", "▁", "▁▁", "(", ")", ".", "é", "日本"]
LONG = "a" * 40                     # longer than llama-cpp-python's buffer
TEXT_TAGS = ["<table>", "<0x41>x", LONG]
NORMAL, UNKNOWN, CONTROL, USER, BYTE = 1, 2, 3, 4, 6


def write(path, seed, width=32, context=512, add_space=False):
    """Writes the model; returns its vocabulary as a list of (piece, type)."""
    import gguf

    vocab = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    vocab += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    vocab += [(piece, NORMAL) for piece in PIECES + [letter for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789-+!" if letter not in PIECES and letter != "a"]]
    vocab += [(tag, USER) for tag in TEXT_TAGS] + [("<tool>", CONTROL), ("<end_of_turn>", CONTROL)]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(width)
    writer.add_block_count(1)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // 2)
    writer.add_vocab_size(len(vocab))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([piece.encode() for piece, _ in vocab])
    writer.add_token_scores([-float(i) for i in range(len(vocab))])
    writer.add_token_types([kind for _, kind in vocab])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_space_prefix(add_space)
    random = numpy.random.default_rng(seed)

    def add(name, *shape, scale=1.0):
        writer.add_tensor(name, (random.normal(size=shape) * scale).astype(numpy.float32))

    add("token_embd.weight", len(vocab), width)
    writer.add_tensor("output_norm.weight", numpy.ones(width, numpy.float32))
    add("output.weight", len(vocab), width, scale=0.7)
    for name in "attn_norm", "ffn_norm":
        writer.add_tensor(f"blk.0.{name}.weight", numpy.ones(width, numpy.float32))
    for name in "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down":
        add(f"blk.0.{name}.weight", width, width, scale=0.5)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return vocab
