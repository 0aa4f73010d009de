# What a program that trains a transformer and draws its graph does not take: the further sources of the library and the kit.
# With XGRAD_GROUPED there are `xgrad_basic` and `xgrad_kit_basic` beside `xgrad` and `xgrad_kit`, the same without them, so that
# the first build is a third shorter. A basic source that needs a further one is an error of the linker.
set(XGRAD_FURTHER
    # Finding faults, and reports
    core/debug core/profile/profile nn/diagnostics
    # Weights of others, models that are published, and text as they cut it
    core/files/json core/files/weights nn/models/bert nn/models/gpt nn/models/language_model nn/models/llama nn/models/pretrained
    nn/pytorch examples/kit/text/bpe examples/kit/text/bpe_files examples/kit/text/pattern examples/kit/text/tokenizer
    examples/kit/text/wordpiece
    # Pictures: convolution, pooling, models, files
    ops/kernels/conv ops/network/conv ops/network/interpolate ops/network/pooling ops/indexing/pad nn/layers/conv
    nn/models/resnet nn/models/swin_transformer nn/models/vision_transformer examples/kit/files/image_file
    examples/kit/data/image_folder examples/kit/data/images examples/kit/data/shapes examples/kit/data/transforms
    examples/kit/draw/pictures
    # Recurrent networks and linear attention
    ops/kernels/recurrent ops/network/recurrent nn/layers/recurrent nn/models/seq2seq ops/network/linear_attention
    nn/attention/linear_attention nn/attention/attention_scores
    # Linear algebra
    ops/products/lapack ops/products/without_lapack ops/products/einsum ops/products/factorisations ops/products/linalg ops/products/similarity
    # Derivatives of functions, and what they cost
    ops/derivatives/checkpoint ops/derivatives/count_operations ops/derivatives/functional nn/parameters/functional_call
    # Distributions, statistics, order, rounding
    ops/distributions ops/elementwise/integer ops/reduce/integer_reduce ops/creation/sample ops/indexing/search ops/indexing/sort ops/elementwise/rounding
    ops/elementwise/trigonometry ops/kernels/reduce/scan ops/losses/distance_loss ops/reduce/count ops/products/norm ops/reduce/scan
    ops/reduce/statistics
    # Optimizers besides SGD and Adam
    optim/optimizers/parameters optim/optimizers/adadelta optim/optimizers/adagrad optim/optimizers/lbfgs
    optim/optimizers/lion optim/optimizers/muon optim/optimizers/rmsprop
    # Tables, classifiers and their figures
    examples/kit/files/csv_table examples/kit/draw/vectors examples/kit/train/classifier)
list(JOIN XGRAD_FURTHER "|" further)
set(XGRAD_FURTHER "^(${further})(/|[.]cpp$)")

# Moves the further sources of one list to another.
function(xgrad_split from to)
  set(${to} "")
  foreach(source ${${from}})
    file(RELATIVE_PATH place ${PROJECT_SOURCE_DIR} ${source})
    if(XGRAD_GROUPED AND place MATCHES "${XGRAD_FURTHER}")
      list(APPEND ${to} ${source})
    endif()
  endforeach()
  list(REMOVE_ITEM ${from} ${${to}} "")
  set(${from} ${${from}} PARENT_SCOPE)
  set(${to} ${${to}} PARENT_SCOPE)
endfunction()
